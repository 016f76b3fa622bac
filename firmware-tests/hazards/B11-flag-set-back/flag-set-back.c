/* B11 source-reused-before-flush: A word is sent from where it lies, and set back for the next round before it has left: the receiver gets the new value.
 * Seen in: tt-metal #12520, #20663.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "noc.h"

enum { FLAG = 0x30000, THERE = 0x34000 };

void kernel_main(void) {
    u32 sent = NIU_REG(0, NIU_MST_NONPOSTED_WR_REQ_SENT);
    u32 acks = NIU_REG(0, NIU_MST_WR_ACK_RECEIVED);
    REG32(THERE) = 0;
    REG32(FLAG) = 1;
    fence();
    noc_copy(0, 0, NOC_CMD_WR | NOC_CMD_RESP_MARKED, FLAG, THERE, 4);
    if (!BUG) noc_await(0, NIU_MST_NONPOSTED_WR_REQ_SENT, sent + 1); /* MISSING HERE */
    REG32(FLAG) = 0;
    fence();
    noc_await(0, NIU_MST_WR_ACK_RECEIVED, acks + 1);
}
