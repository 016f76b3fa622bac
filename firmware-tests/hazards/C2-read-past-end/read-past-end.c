/* C2 read-past-end: A reader on NCRISC takes the next three pages in one read over NoC 1; its last block begins one page before
 * the end of the buffer.
 * Seen in: tt-metal #49082.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { NOC = 1, CB = 3, BASE = 0x20000, PAGE = 0x100, PAGES = 6, BLOCK = 2 };

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
    for (u32 i = 0; i < 3 * PAGE / 4; i++) REG32(0x30000 + 4 * i) = i;
    fence();
    u32 reads = NIU_REG(NOC, NIU_MST_RD_RESP_RECEIVED);
    for (u32 page = 0; page < PAGES; page += BLOCK) {
        reads++;
        u32 pages = BUG && page == PAGES - BLOCK ? BLOCK + 1 : BLOCK;
        command(1, NOC_CMD_RD | NOC_CMD_RESP_MARKED, 0x30000, BASE + page * PAGE, pages * PAGE);
        while (NIU_REG(NOC, NIU_MST_RD_RESP_RECEIVED) != reads) fence();
    }
}
