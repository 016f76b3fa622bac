/* A13 other-noc: BRISC writes over NoC 1 and waits for the acknowledgement at NoC 0.
 * Seen in: tt-metal #17405.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

#include "noc.h"

void kernel_main(void) {
    for (u32 at = 0; at < 64; at += 4) REG32(0x30000 + at) = at;
    fence();
    u32 acks = NIU_REG(BUG ? 0 : 1, NIU_MST_WR_ACK_RECEIVED);
    noc_copy(1, 0, NOC_CMD_WR | NOC_CMD_RESP_MARKED, 0x30000, 0x34000, 64);
    noc_await(BUG ? 0 : 1, NIU_MST_WR_ACK_RECEIVED, acks + 1); /* HERE */
}
