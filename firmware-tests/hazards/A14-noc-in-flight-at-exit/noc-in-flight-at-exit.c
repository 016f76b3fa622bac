/* A14 noc-in-flight-at-exit: NCRISC starts reads and returns without a read barrier: the program is done, its requests are not.
 * Seen in: tt-metal #45963, #40595, #50973.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "noc.h"

void kernel_main(void) {
    u32 reads = NIU_REG(0, NIU_MST_RD_RESP_RECEIVED);
    for (u32 i = 0; i < 4; i++) noc_copy(0, 1, NOC_CMD_RD | NOC_CMD_RESP_MARKED, 0x30000, 0x34000 + 0x2000 * i, 0x2000);
    if (!BUG) noc_await(0, NIU_MST_RD_RESP_RECEIVED, reads + 4); /* MISSING HERE */
}
