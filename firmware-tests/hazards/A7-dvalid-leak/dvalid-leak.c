/* A7 dvalid-leak: Unpack fills SrcA four times, math clears it once and ends: both banks stay with the matrix unit.
 * Seen in: tt-metal #53413; tt-llk #1144.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { TILES = 4 };

#if THREAD == 0
void kernel_main(void) {
    push(TT_CLEARDVALID_RESET);
    tensix_sync();
    MAILBOX(PEER_TRISC1) = TILES;
    for (u32 tile = 0; tile < TILES; tile++) {
        push(TT_STALLWAIT(BLOCK_ALL, WAIT_SRCA_CLR));
        push(TT_SETDVALID(1));
    }
    tensix_sync();
}
#elif THREAD == 1
void kernel_main(void) {
    consume(MAILBOX(PEER_TRISC0));
    for (u32 tile = 0; tile < (BUG ? 1 : TILES); tile++) { /* HERE */
        push(TT_STALLWAIT(BLOCK_ALL, WAIT_SRCA_VLD));
        push(TT_CLEARDVALID(1));
    }
    tensix_sync();
}
#else
void kernel_main(void) {}
#endif
