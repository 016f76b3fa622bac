/* C2 read-past-end: A reader on NCRISC takes the next three pages in one read over NoC 1; its last block begins one page before
 * the end of the buffer.
 * Seen in: tt-metal #49082.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "noc.h"

enum { NOC = 1, CB = 3, BASE = 0x20000, PAGE = 0x100, PAGES = 6, BLOCK = 2 };

void kernel_main(void) {
    for (u32 i = 0; i < 3 * PAGE / 4; i++) REG32(0x30000 + 4 * i) = i;
    fence();
    u32 reads = NIU_REG(NOC, NIU_MST_RD_RESP_RECEIVED);
    for (u32 page = 0; page < PAGES; page += BLOCK) {
        reads++;
        u32 pages = BUG && page == PAGES - BLOCK ? BLOCK + 1 : BLOCK;
        noc_copy(NOC, 1, NOC_CMD_RD | NOC_CMD_RESP_MARKED, 0x30000, BASE + page * PAGE, pages * PAGE); /* HERE */
        while (NIU_REG(NOC, NIU_MST_RD_RESP_RECEIVED) != reads) fence();
    }
}
