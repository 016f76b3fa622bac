/* A6 semwait-never-satisfied: Pack waits for four tiles in Dst, math commits three: one tile_regs_commit is missing.
 * Seen in: tt-llk #71; tt-metal #45526, #46112.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { TILES = 4 };

#if THREAD == 1
void kernel_main(void) {
    push(TT_SEMINIT(2, 0, 1 << MATH_PACK));
    tensix_sync();
    MAILBOX(PEER_TRISC2) = TILES;
    for (u32 tile = 0; tile < TILES; tile++) {
        push(TT_SEMWAIT(BLOCK_SYNC, 1 << MATH_PACK, SEM_WHILE_MAX));
        if (!BUG || tile != 2) push(TT_SEMPOST(1 << MATH_PACK)); /* HERE */
    }
    tensix_sync();
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
