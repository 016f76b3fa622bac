/* A8 only-one-source: Math works on both sources in a replayed block; unpack, in its fifth round, takes the path that fills
 * SrcA alone. The matrix unit waits for SrcB.
 * Seen in: tt-metal #36142.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { ROUNDS = 8 };

#if THREAD == 0
void kernel_main(void) {
    push(TT_CLEARDVALID_RESET);
    tensix_sync();
    MAILBOX(PEER_TRISC1) = 1;
    for (u32 round = 0; round < ROUNDS; round++) {
        u32 single = BUG && round == 4;
        push(TT_STALLWAIT(BLOCK_ALL, WAIT_SRCA_CLR));
        push(TT_SETDVALID(1));
        if (single) continue; /* HERE */
        push(TT_STALLWAIT(BLOCK_ALL, WAIT_SRCB_CLR));
        push(TT_SETDVALID(2));
    }
    tensix_sync();
}
#elif THREAD == 1
void kernel_main(void) {
    consume(MAILBOX(PEER_TRISC0));
    push(TT_REPLAY(4, 3, 1, 1)); /* record, and run at once */
    push(TT_STALLWAIT(BLOCK_ALL, WAIT_SRCA_VLD | WAIT_SRCB_VLD));
    push(TT_CLEARDVALID(3));
    push(TT_NOP);
    for (u32 round = 1; round < ROUNDS; round++) push(TT_REPLAY(4, 3, 0, 0));
    tensix_sync();
}
#else
void kernel_main(void) {}
#endif
