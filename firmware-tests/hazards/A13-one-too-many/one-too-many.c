/* A13 one-too-many: NCRISC reads four pages per block over NoC 1 and counts its requests in a variable; on the path of the last
 * block it counts one that it did not send.
 * Seen in: tt-metal #33710.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { NOC = 1, READ = 1, BLOCKS = 5 };

static u32 issued;

static void __attribute__((noinline)) read(u32 from, u32 to, u32 bytes) {
    u32 id = NIU_REG(NOC, NOC_ID_LOGICAL) & 0xFFF;
    while (NIU_CMD(NOC, READ, NOC_CMD_CTRL) != 0) {}
    NIU_CMD(NOC, READ, NOC_CTRL) = NOC_CMD_RD | NOC_CMD_RESP_MARKED | NOC_CMD_VC_STATIC | NOC_CMD_STATIC_VC(1);
    NIU_CMD(NOC, READ, NOC_RET_ADDR_LO) = to;
    NIU_CMD(NOC, READ, NOC_RET_ADDR_MID) = 0;
    NIU_CMD(NOC, READ, NOC_RET_ADDR_HI) = id;
    NIU_CMD(NOC, READ, NOC_TARG_ADDR_LO) = from;
    NIU_CMD(NOC, READ, NOC_TARG_ADDR_MID) = 0;
    NIU_CMD(NOC, READ, NOC_TARG_ADDR_HI) = id;
    NIU_CMD(NOC, READ, NOC_PACKET_TAG) = 0;
    NIU_CMD(NOC, READ, NOC_AT_LEN_BE) = bytes;
    NIU_CMD(NOC, READ, NOC_CMD_CTRL) = 1;
    issued++;
}

static u32 __attribute__((noinline)) flushed(void) { return NIU_REG(NOC, NIU_MST_RD_RESP_RECEIVED) == issued; }

void kernel_main(void) {
    for (u32 i = 0; i < 0x100; i++) REG32(0x30000 + 4 * i) = i;
    fence();
    issued = NIU_REG(NOC, NIU_MST_RD_RESP_RECEIVED);
    for (u32 block = 0; block < BLOCKS; block++) {
        for (u32 page = 0; page < 4; page++) read(0x30000 + 0x100 * page, 0x34000 + 0x100 * page, 0x100);
        if (BUG && block == BLOCKS - 1) issued++; /* HERE */
        while (!flushed()) fence();
    }
}
