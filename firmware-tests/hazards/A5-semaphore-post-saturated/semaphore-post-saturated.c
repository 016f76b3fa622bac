/* A5 semaphore-post-saturated: Math posts a tile more often than a semaphore can count while pack does not look; pack waits for the lost ones.
 * Seen in: tt-metal #56189.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { TILES = BUG ? 17 : 15 };

#if THREAD == 1
void kernel_main(void) {
    push(TT_SEMINIT(15, 0, 1 << MATH_PACK));
    for (u32 tile = 0; tile < TILES; tile++) push(TT_SEMPOST(1 << MATH_PACK)); /* HERE */
    tensix_sync();
    MAILBOX(PEER_TRISC2) = TILES;
}
#elif THREAD == 2
void kernel_main(void) {
    consume(MAILBOX(PEER_TRISC1));
    for (u32 tile = 0; tile < TILES; tile++) {
        push(TT_SEMWAIT(BLOCK_SYNC, 1 << MATH_PACK, SEM_WHILE_ZERO));
        push(TT_SEMGET(1 << MATH_PACK));
    }
    tensix_sync();
}
#else
void kernel_main(void) {}
#endif
