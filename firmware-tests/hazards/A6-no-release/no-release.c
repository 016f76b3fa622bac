/* A6 no-release: Pack waits for each half of Dst and never gives it back: math stands before a full semaphore.
 * Seen in: tt-lang #231.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { DST = 1 };

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
void kernel_main(void) {
    consume(MAILBOX(PEER_TRISC1));
    for (u32 tile = 0; tile < arg(0); tile++) {
        push(TT_SEMWAIT(BLOCK_ALL, 1 << DST, SEM_WHILE_ZERO));
        if (!BUG) push(TT_SEMGET(1 << DST)); /* MISSING HERE */
        push(TT_NOP);
    }
    tensix_sync();
}
#else
void kernel_main(void) {}
#endif
