/* C6 noc-command: A read whose two addresses differ in their low bits, which the network cannot carry out.
 * Seen in: tt-metal #6695, #9974.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

static void request(u32 initiator, u32 control, u32 from, u32 to, u32 bytes) {
    u32 id = NIU_REG(0, NOC_ID_LOGICAL) & 0xFFF;
    NIU_CMD(0, initiator, NOC_TARG_ADDR_LO) = from;
    NIU_CMD(0, initiator, NOC_TARG_ADDR_MID) = 0;
    NIU_CMD(0, initiator, NOC_TARG_ADDR_HI) = id;
    NIU_CMD(0, initiator, NOC_RET_ADDR_LO) = to;
    NIU_CMD(0, initiator, NOC_RET_ADDR_MID) = 0;
    NIU_CMD(0, initiator, NOC_RET_ADDR_HI) = id;
    NIU_CMD(0, initiator, NOC_PACKET_TAG) = 0;
    NIU_CMD(0, initiator, NOC_CTRL) = control | NOC_CMD_VC_STATIC | NOC_CMD_STATIC_VC(1);
    NIU_CMD(0, initiator, NOC_AT_LEN_BE) = bytes;
    NIU_CMD(0, initiator, NOC_CMD_CTRL) = 1;
    while (NIU_CMD(0, initiator, NOC_CMD_CTRL) != 0) {}
}

static void await(u32 counter, u32 value) {
    while (NIU_REG(0, counter) != value) {}
    fence();
}

void kernel_main(void) {
    u32 reads = NIU_REG(0, NIU_MST_RD_RESP_RECEIVED);
    request(1, NOC_CMD_RD | NOC_CMD_RESP_MARKED, 0x30000, BUG ? 0x34004 : 0x34000, 64);
    await(NIU_MST_RD_RESP_RECEIVED, reads + 1);
}
