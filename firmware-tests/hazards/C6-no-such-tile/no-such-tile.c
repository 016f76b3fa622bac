/* C6 no-such-tile: A read of coordinates beyond the grid.
 * Seen in: tt-metal #9974.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { NOC = 0 };

static void command(u32 initiator, u32 control, u32 from, u32 to, u32 bytes) {
    u32 id = NIU_REG(NOC, NOC_ID_LOGICAL) & 0xFFF, target = BUG ? 63 << 6 | 63 : id;
    while (NIU_CMD(NOC, initiator, NOC_CMD_CTRL) != 0) {}
    NIU_CMD(NOC, initiator, NOC_TARG_ADDR_LO) = from;
    NIU_CMD(NOC, initiator, NOC_TARG_ADDR_MID) = 0;
    NIU_CMD(NOC, initiator, NOC_TARG_ADDR_HI) = target;
    NIU_CMD(NOC, initiator, NOC_RET_ADDR_LO) = to;
    NIU_CMD(NOC, initiator, NOC_RET_ADDR_MID) = 0;
    NIU_CMD(NOC, initiator, NOC_RET_ADDR_HI) = id;
    NIU_CMD(NOC, initiator, NOC_PACKET_TAG) = 0;
    NIU_CMD(NOC, initiator, NOC_CTRL) = control | NOC_CMD_VC_STATIC | NOC_CMD_STATIC_VC(1);
    NIU_CMD(NOC, initiator, NOC_AT_LEN_BE) = bytes;
    NIU_CMD(NOC, initiator, NOC_CMD_CTRL) = 1;
}

void kernel_main(void) {
    for (u32 at = 0; at < 64; at += 4) REG32(0x30000 + at) = at;
    u32 reads = NIU_REG(NOC, NIU_MST_RD_RESP_RECEIVED);
    command(1, NOC_CMD_RD | NOC_CMD_RESP_MARKED, 0x30000, 0x34000, 64);
    while (NIU_REG(NOC, NIU_MST_RD_RESP_RECEIVED) != reads + 1) {}
}
