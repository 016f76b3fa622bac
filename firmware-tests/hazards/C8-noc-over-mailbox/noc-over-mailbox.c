/* C8 noc-over-mailbox: A write of BRISC over the NoC lands in the mailbox, eight bytes into the launch message.
 * Seen in: tt-metal watcher.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { NOC = 0 };

static void command(u32 initiator, u32 control, u32 from, u32 to, u32 bytes) {
    u32 id = NIU_REG(NOC, NOC_ID_LOGICAL) & 0xFFF;
    while (NIU_CMD(NOC, initiator, NOC_CMD_CTRL) != 0) {}
    NIU_CMD(NOC, initiator, NOC_TARG_ADDR_LO) = from;
    NIU_CMD(NOC, initiator, NOC_TARG_ADDR_MID) = 0;
    NIU_CMD(NOC, initiator, NOC_TARG_ADDR_HI) = id;
    NIU_CMD(NOC, initiator, NOC_RET_ADDR_LO) = to;
    NIU_CMD(NOC, initiator, NOC_RET_ADDR_MID) = 0;
    NIU_CMD(NOC, initiator, NOC_RET_ADDR_HI) = id;
    NIU_CMD(NOC, initiator, NOC_PACKET_TAG) = 0;
    NIU_CMD(NOC, initiator, NOC_CTRL) = control | NOC_CMD_VC_STATIC | NOC_CMD_STATIC_VC(1);
    NIU_CMD(NOC, initiator, NOC_AT_LEN_BE) = bytes;
    NIU_CMD(NOC, initiator, NOC_CMD_CTRL) = 1;
}

void kernel_main(void) {
    for (u32 at = 0; at < 32; at += 4) REG32(0x30000 + at) = 0;
    fence();
    u32 acks = NIU_REG(NOC, NIU_MST_WR_ACK_RECEIVED);
    command(0, NOC_CMD_WR | NOC_CMD_RESP_MARKED, 0x30000, BUG ? 0x200 : 0x34000, 32);
    while (NIU_REG(NOC, NIU_MST_WR_ACK_RECEIVED) != acks + 1) {}
}
