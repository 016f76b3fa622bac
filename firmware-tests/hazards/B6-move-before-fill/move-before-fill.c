/* B6 move-before-fill: Math moves rows of Dst to SrcA, which unpack has not handed over yet: the move goes to the unpacker's bank.
 * Seen in: tt-metal #53412, #46523.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "compute.h"

#define TT_MOVD2A(src, dst) TT_WORD(0x08, (src) << 17 | (dst))
#define TT_SETDVALID(banks) TT_WORD(0x57, (banks))

#if THREAD == 0
void kernel_main(void) {
    consume(MAILBOX(PEER_TRISC1));
    push(TT_STALLWAIT(BLOCK_TDMA, WAIT_SRCA_CLR));
    push(TT_SETDVALID(1));
    tensix_sync();
}
#elif THREAD == 1
void kernel_main(void) {
    math_setup();
    if (!BUG) push(TT_STALLWAIT(BLOCK_MATH, WAIT_SRCA_VLD)); /* MISSING HERE */
    push(TT_MOVD2A(0, 0));
    if (BUG) tensix_sync();
    MAILBOX(PEER_TRISC0) = 1;
    push(TT_STALLWAIT(BLOCK_MATH, WAIT_SRCA_VLD));
    push(TT_CLEARDVALID(1));
    tensix_sync();
}
#else
void kernel_main(void) {}
#endif
