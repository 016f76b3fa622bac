/* A8 wrong-stall-mask: Math works on SrcA alone and waits for SrcB.
 * Seen in: tt-metal #36142.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

#if THREAD == 0
void kernel_main(void) {
    push(TT_CLEARDVALID_RESET);
    tensix_sync();
    MAILBOX(PEER_TRISC1) = 1;
    for (u32 tile = 0; tile < arg(0); tile++) {
        push(TT_STALLWAIT(BLOCK_ALL, WAIT_SRCA_CLR));
        push(TT_SETDVALID(1));
    }
    tensix_sync();
}
#elif THREAD == 1
void kernel_main(void) {
    consume(MAILBOX(PEER_TRISC0));
    for (u32 tile = 0; tile < arg(0); tile++) {
        push(TT_STALLWAIT(BLOCK_ALL, BUG ? WAIT_SRCB_VLD : WAIT_SRCA_VLD)); /* HERE */
        push(TT_CLEARDVALID(1));
    }
    tensix_sync();
}
#else
void kernel_main(void) {}
#endif
