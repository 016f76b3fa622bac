/* A9 src-bank-parity-drift: Math clears SrcA once before anything was filled: from then on it looks at the other bank.
 * Seen in: tt-llk #1662; tt-metal #49210.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { TILES = 4 };

#if THREAD == 0
void kernel_main(void) {
    push(TT_CLEARDVALID_RESET);
    tensix_sync();
    MAILBOX(PEER_TRISC1) = TILES;
    for (u32 tile = 0; tile < 1; tile++) {
        push(TT_STALLWAIT(BLOCK_ALL, WAIT_SRCA_CLR));
        push(TT_SETDVALID(1));
    }
    tensix_sync();
}
#elif THREAD == 1
void kernel_main(void) {
    consume(MAILBOX(PEER_TRISC0));
    if (BUG) push(TT_CLEARDVALID(1)); /* HERE */
    for (u32 tile = 0; tile < 1; tile++) {
        push(TT_STALLWAIT(BLOCK_ALL, WAIT_SRCA_VLD));
        push(TT_CLEARDVALID(1));
    }
    tensix_sync();
}
#else
void kernel_main(void) {}
#endif
