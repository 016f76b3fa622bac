/* C8 noc-over-mailbox: A write of BRISC over the NoC lands in the mailbox, eight bytes into the launch message.
 * Seen in: tt-metal watcher.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "noc.h"

enum { NOC = 0 };

void kernel_main(void) {
    for (u32 at = 0; at < 32; at += 4) REG32(0x30000 + at) = 0;
    fence();
    u32 acks = NIU_REG(NOC, NIU_MST_WR_ACK_RECEIVED);
    noc_copy(NOC, 0, NOC_CMD_WR | NOC_CMD_RESP_MARKED, 0x30000, BUG ? 0x200 : 0x34000, 32); /* HERE */
    while (NIU_REG(NOC, NIU_MST_WR_ACK_RECEIVED) != acks + 1) {}
}
