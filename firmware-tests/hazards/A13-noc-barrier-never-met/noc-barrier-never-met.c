/* A13 noc-barrier-never-met: BRISC sends a posted write and waits for its acknowledgement, which posted writes do not get.
 * Seen in: tt-metal #33710, #27979.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "noc.h"

void kernel_main(void) {
    u32 acks = NIU_REG(0, NIU_MST_WR_ACK_RECEIVED);
    noc_copy(0, 0, NOC_CMD_WR | (BUG ? 0 : NOC_CMD_RESP_MARKED), 0x30000, 0x34000, 64); /* HERE */
    noc_await(0, NIU_MST_WR_ACK_RECEIVED, acks + 1);
}
