/* C6 noc-command: A read whose two addresses differ in their low bits, which the network cannot carry out.
 * Seen in: tt-metal #6695, #9974.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "noc.h"

void kernel_main(void) {
    u32 reads = NIU_REG(0, NIU_MST_RD_RESP_RECEIVED);
    noc_copy(0, 1, NOC_CMD_RD | NOC_CMD_RESP_MARKED, 0x30000, BUG ? 0x34004 : 0x34000, 64); /* HERE */
    noc_await(0, NIU_MST_RD_RESP_RECEIVED, reads + 1);
}
