/* C2 cb-transfer-out-of-bounds: A write into CB 0 of this tile is larger than what is left of the buffer.
 * Seen in: tt-metal #49082, #38424.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "noc.h"

void kernel_main(void) {
    u32 acks = NIU_REG(0, NIU_MST_WR_ACK_RECEIVED);
    noc_copy(0, 0, NOC_CMD_WR | NOC_CMD_RESP_MARKED, 0x30000, 0x20C00, BUG ? 0x800 : 0x400); /* HERE */
    noc_await(0, NIU_MST_WR_ACK_RECEIVED, acks + 1);
}
