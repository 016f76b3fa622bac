/* B12 signal-before-data: Data go over NoC 0 and the count that says so over NoC 1, with nothing between that waits for the data.
 * Seen in: tt-metal #48478, #33710.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "noc.h"
#include "hazard.h"

enum { ATOMIC = 3, WRAP_32 = 31, DATA = 0x20000, THERE = 0x24000, COUNT = 0x30000, BYTES = 0x800 };

static void increment(u32 noc, u32 address) {
    u32 id = NIU_REG(noc, NOC_ID_LOGICAL) & 0xFFF;
    while (NIU_CMD(noc, ATOMIC, NOC_CMD_CTRL) != 0) {}
    NIU_CMD(noc, ATOMIC, NOC_TARG_ADDR_LO) = address;
    NIU_CMD(noc, ATOMIC, NOC_TARG_ADDR_MID) = 0;
    NIU_CMD(noc, ATOMIC, NOC_TARG_ADDR_HI) = id;
    NIU_CMD(noc, ATOMIC, NOC_RET_ADDR_LO) = L1_ATOMIC_RETURN;
    NIU_CMD(noc, ATOMIC, NOC_RET_ADDR_MID) = 0;
    NIU_CMD(noc, ATOMIC, NOC_RET_ADDR_HI) = id;
    NIU_CMD(noc, ATOMIC, NOC_PACKET_TAG) = 0;
    NIU_CMD(noc, ATOMIC, NOC_CTRL) = NOC_CMD_AT | NOC_CMD_RESP_MARKED | NOC_CMD_VC_STATIC | NOC_CMD_STATIC_VC(1);
    NIU_CMD(noc, ATOMIC, NOC_AT_LEN_BE) = 1 << 12 | WRAP_32 << 2 | (address >> 2 & 3);
    NIU_CMD(noc, ATOMIC, NOC_AT_DATA) = 1;
    NIU_CMD(noc, ATOMIC, NOC_CMD_CTRL) = 1; /* HERE */
}

void kernel_main(void) {
    u32 acks = NIU_REG(0, NIU_MST_WR_ACK_RECEIVED), before = NIU_REG(1, NIU_MST_ATOMIC_RESP_RECEIVED);
    for (u32 i = 0; i < BYTES / 4; i++) REG32(DATA + 4 * i) = i;
    REG32(COUNT) = 0;
    fence();
    noc_copy(0, 0, NOC_CMD_WR | NOC_CMD_RESP_MARKED, DATA, THERE, BYTES);
    if (!BUG) noc_await(0, NIU_MST_WR_ACK_RECEIVED, acks + 1); /* MISSING HERE */
    increment(1, COUNT);
    noc_await(0, NIU_MST_WR_ACK_RECEIVED, acks + 1);
    noc_await(1, NIU_MST_ATOMIC_RESP_RECEIVED, before + 1);
}
