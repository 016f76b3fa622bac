/* A9 clear-of-both: Math gives back both sources after each tile; from the third tile on unpack fills only SrcA, as for a copy,
 * and the clear of SrcB turns the matrix unit away from a bank that was never filled. The next tile with SrcB never comes.
 * Seen in: tt-llk #1662.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { TILES = 6 };

#if THREAD == 0
void kernel_main(void) {
    push(TT_CLEARDVALID_RESET);
    tensix_sync();
    MAILBOX(PEER_TRISC1) = 1;
    for (u32 tile = 0; tile < TILES; tile++) {
        push(TT_STALLWAIT(BLOCK_ALL, WAIT_SRCA_CLR));
        push(TT_SETDVALID(1));
        if (tile == 2) continue;
        push(TT_STALLWAIT(BLOCK_ALL, WAIT_SRCB_CLR));
        push(TT_SETDVALID(2));
    }
    tensix_sync();
}
#elif THREAD == 1
void kernel_main(void) {
    consume(MAILBOX(PEER_TRISC0));
    for (u32 tile = 0; tile < TILES; tile++) {
        u32 copy = tile == 2;
        push(TT_STALLWAIT(BLOCK_ALL, WAIT_SRCA_VLD));
        if (!copy) push(TT_STALLWAIT(BLOCK_ALL, WAIT_SRCB_VLD));
        push(TT_CLEARDVALID(copy && !BUG ? 1 : 3)); /* HERE */
    }
    tensix_sync();
}
#else
void kernel_main(void) {}
#endif
