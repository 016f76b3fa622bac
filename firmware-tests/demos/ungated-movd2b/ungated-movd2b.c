/* Math moves Dst to SrcB without waiting until the bank is free: MOVD2B does not wait by itself, and the row goes into a bank
 * that unpack has filled. Seen in: tt-metal #53412. */
#include "hazard.h"

#define TT_MOVD2B TT_WORD(0x0A, 0)

#if THREAD == 0
void kernel_main(void) {
    push(TT_CLEARDVALID_RESET);
    push(TT_STALLWAIT(BLOCK_ALL, WAIT_SRCB_CLR));
    push(TT_SETDVALID(2)); /* SrcB is filled */
    tensix_sync();
    MAILBOX(PEER_TRISC1) = 1;
}
#elif THREAD == 1
void kernel_main(void) {
    consume(MAILBOX(PEER_TRISC0));
    push(TT_MOVD2B); /* a STALLWAIT on SRCB_CLR belongs in front of it */
    push(TT_CLEARDVALID(2));
    tensix_sync();
}
#else
void kernel_main(void) {}
#endif
