/* C6 no-such-tile: A read of coordinates beyond the grid.
 * Seen in: tt-metal #9974.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "noc.h"

enum { NOC = 0 };

void kernel_main(void) {
    for (u32 at = 0; at < 64; at += 4) REG32(0x30000 + at) = at;
    u32 reads = NIU_REG(NOC, NIU_MST_RD_RESP_RECEIVED);
    u32 tile = BUG ? 63 << 6 | 63 : noc_own_tile(NOC);
    noc_copy_from(NOC, 1, NOC_CMD_RD | NOC_CMD_RESP_MARKED, tile, 0x30000, 0x34000, 64); /* HERE */
    while (NIU_REG(NOC, NIU_MST_RD_RESP_RECEIVED) != reads + 1) {}
}
