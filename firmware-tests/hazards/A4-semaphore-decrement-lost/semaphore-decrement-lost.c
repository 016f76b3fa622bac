/* A4 semaphore-decrement-lost: Math tells pack through the mailbox that a tile is ready before it posts the semaphore: pack gets
 * at 0, which does nothing, and math then waits for ever for the semaphore to fall.
 * Seen in: tt-llk #181, #185; tt-metal #19201.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { TILES = 3 };

#if THREAD == 1
void kernel_main(void) {
    push(TT_SEMINIT(1, 0, 1 << MATH_PACK));
    tensix_sync();
    for (u32 tile = 0; tile < TILES; tile++) {
        if (BUG && tile == 2) {
            MAILBOX(PEER_TRISC2) = tile; /* HERE */
            spend(200);
            push(TT_SEMPOST(1 << MATH_PACK));
        } else {
            push(TT_SEMPOST(1 << MATH_PACK));
            tensix_sync();
            MAILBOX(PEER_TRISC2) = tile;
        }
        push(TT_SEMWAIT(BLOCK_SYNC, 1 << MATH_PACK, SEM_WHILE_MAX));
        push(TT_SEMPOST(0)); /* what stands behind the wait */
        tensix_sync();
    }
}
#elif THREAD == 2
void kernel_main(void) {
    for (u32 tile = 0; tile < TILES; tile++) {
        consume(MAILBOX(PEER_TRISC1));
        push(TT_SEMGET(1 << MATH_PACK));
        tensix_sync();
    }
}
#else
void kernel_main(void) {}
#endif
