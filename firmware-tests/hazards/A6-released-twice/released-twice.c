/* A6 released-twice: Pack gives each half of Dst back twice on the path of the last row: it waits for tiles that math has never promised.
 * Seen in: tt-metal #46112.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { DST = 1, ROW = 4 };

#if THREAD == 1
void kernel_main(void) {
    push(TT_SEMINIT(2, 0, 1 << DST));
    tensix_sync();
    MAILBOX(PEER_TRISC2) = 1;
    for (u32 tile = 0; tile < arg(0); tile++) {
        push(TT_SEMWAIT(BLOCK_ALL, 1 << DST, SEM_WHILE_MAX));
        push(TT_SEMPOST(1 << DST));
    }
    tensix_sync();
}
#elif THREAD == 2
static void __attribute__((noinline)) take(void) {
    push(TT_SEMWAIT(BLOCK_ALL, 1 << DST, SEM_WHILE_ZERO));
    push(TT_SEMGET(1 << DST));
}

void kernel_main(void) {
    consume(MAILBOX(PEER_TRISC1));
    for (u32 tile = 0; tile < arg(0); tile++) {
        take();
        if (BUG && tile % ROW == ROW - 1) take(); /* HERE */
    }
    tensix_sync();
}
#else
void kernel_main(void) {}
#endif
