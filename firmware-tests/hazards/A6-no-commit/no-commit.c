/* A6 no-commit: Math takes its half of Dst and never gives it to pack: the commit is not in the kernel at all.
 * Seen in: tt-metal #45526.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { DST = 1, TILES = 3 };

#if THREAD == 1
void kernel_main(void) {
    push(TT_SEMINIT(2, 0, 1 << DST));
    tensix_sync();
    MAILBOX(PEER_TRISC2) = 1;
    for (u32 tile = 0; tile < arg(0); tile++) {
        push(TT_SEMWAIT(BLOCK_MATH, 1 << DST, SEM_WHILE_MAX));
        if (!BUG) push(TT_SEMPOST(1 << DST)); /* MISSING HERE */
    }
    tensix_sync();
}
#elif THREAD == 2
void kernel_main(void) {
    consume(MAILBOX(PEER_TRISC1));
    for (u32 tile = 0; tile < arg(0); tile++) {
        push(TT_SEMWAIT(BLOCK_SYNC, 1 << DST, SEM_WHILE_ZERO));
        push(TT_SEMGET(1 << DST));
    }
    tensix_sync();
}
#else
void kernel_main(void) {}
#endif
