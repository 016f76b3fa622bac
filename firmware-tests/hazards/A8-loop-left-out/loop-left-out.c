/* A8 loop-left-out: unpack goes round a loop as often as an argument says, less one: not at all. Math waits for the bank.
 * Seen in: many kernels with a block less in one of the two threads, when there is only one block.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

#if THREAD == 0
void kernel_main(void) {
    push(TT_CLEARDVALID_RESET);
    tensix_sync();
    MAILBOX(PEER_TRISC1) = 1;
    u32 blocks = arg(0) - BUG;
    for (u32 block = 0; block < blocks; block++) { /* HERE */
        push(TT_STALLWAIT(BLOCK_ALL, WAIT_SRCA_CLR));
        push(TT_SETDVALID(1));
    }
    tensix_sync();
}
#elif THREAD == 1
void kernel_main(void) {
    consume(MAILBOX(PEER_TRISC0));
    for (u32 block = 0; block < arg(0); block++) {
        push(TT_STALLWAIT(BLOCK_ALL, WAIT_SRCA_VLD));
        push(TT_CLEARDVALID(1));
    }
    tensix_sync();
}
#else
void kernel_main(void) {}
#endif
