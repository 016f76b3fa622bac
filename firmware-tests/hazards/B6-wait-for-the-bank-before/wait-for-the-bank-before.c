/* B6 wait-for-the-bank-before: Math clears one fill of SrcA and waits for the next bank while the clear that turns to it may be in
 * flight: the wait looks at the bank that it has had all along.
 * Seen in: tt-metal #55106.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "compute.h"

#define TT_MOVD2A(src, dst) TT_WORD(0x08, (src) << 17 | (dst))
#define TT_SETDVALID(banks) TT_WORD(0x57, (banks))

#if THREAD == 0
void kernel_main(void) {
    for (u32 fill = 0; fill < 2; fill++) {
        push(TT_STALLWAIT(BLOCK_TDMA, WAIT_SRCA_CLR));
        push(TT_SETDVALID(1));
    }
    tensix_sync();
    MAILBOX(PEER_TRISC1) = 1;
}
#elif THREAD == 1
void kernel_main(void) {
    math_setup();
    consume(MAILBOX(PEER_TRISC0));
    push(TT_STALLWAIT(BLOCK_MATH, WAIT_SRCA_VLD));
    push(TT_CLEARDVALID(1));
    push(TT_STALLWAIT(BLOCK_MATH, BUG ? WAIT_SRCA_VLD : WAIT_SRCA_VLD | WAIT_MATH)); /* HERE */
    push(TT_MOVD2A(0, 0));
    push(TT_CLEARDVALID(1));
    tensix_sync();
}
#else
void kernel_main(void) {}
#endif
