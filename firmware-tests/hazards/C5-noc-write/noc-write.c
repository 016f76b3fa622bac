/* C5 noc-write: BRISC sends a page over the NoC whose last bytes nobody has filled.
 * Seen in: tt-metal #43435.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "noc.h"

enum { NOC = 0, PAGE = 0x30000, BYTES = 256 };

void kernel_main(void) {
    for (u32 at = 0; at < BYTES - 16 * BUG; at += 4) REG32(PAGE + at) = at; /* HERE */
    fence();
    u32 acks = NIU_REG(NOC, NIU_MST_WR_ACK_RECEIVED);
    noc_copy(NOC, 0, NOC_CMD_WR | NOC_CMD_RESP_MARKED, PAGE, 0x34000, BYTES);
    while (NIU_REG(NOC, NIU_MST_WR_ACK_RECEIVED) != acks + 1) {}
}
