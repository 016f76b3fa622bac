/* A19 mop-sync: Unpack waits for its MOP, whose instructions wait for a bank that math gives back only after a word that TRISC0
 * sends after that wait.
 * Seen in: tt-metal #1153.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

#if THREAD == 0
void kernel_main(void) {
    push(TT_CLEARDVALID_RESET);
    tensix_sync();
    MOP_CFG_WORD(0) = 1;
    MOP_CFG_WORD(1) = 3; /* three fills, two banks */
    for (u32 i = 2; i < 9; i++) MOP_CFG_WORD(i) = TT_NOP;
    MOP_CFG_WORD(5) = TT_STALLWAIT(BLOCK_ALL, WAIT_SRCA_CLR);
    MOP_CFG_WORD(6) = TT_SETDVALID(1);
    MOP_CFG_WORD(7) = TT_SETDVALID(1);
    MOP_CFG_WORD(8) = TT_SETDVALID(1);
    if (!BUG) MAILBOX(PEER_TRISC1) = 3;
    push(TT_MOP1); /* HERE */
    tensix_sync();
    if (BUG) MAILBOX(PEER_TRISC1) = 3;
}
#elif THREAD == 1
void kernel_main(void) {
    for (u32 fills = MAILBOX(PEER_TRISC0); fills > 0; fills--) {
        push(TT_STALLWAIT(BLOCK_ALL, WAIT_SRCA_VLD));
        push(TT_CLEARDVALID(1));
    }
    tensix_sync();
}
#else
void kernel_main(void) {}
#endif
