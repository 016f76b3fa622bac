/* C7 noc-over-code: A read of BRISC lands on the code of NCRISC: its destination is computed from the wrong base.
 * Seen in: tt-metal #20766.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"
#include "noc.h"

enum { NOC = 0, CODE = 0xC000 };
#ifdef ROLE_BRISC
void kernel_main(void) {
    for (u32 at = 0; at < 64; at += 4) REG32(0x30000 + at) = 0x13;
    fence();
    u32 reads = NIU_REG(NOC, NIU_MST_RD_RESP_RECEIVED);
    noc_copy(NOC, 1, NOC_CMD_RD | NOC_CMD_RESP_MARKED, 0x30000, BUG ? CODE : 0x34000, 64); /* HERE */
    while (NIU_REG(NOC, NIU_MST_RD_RESP_RECEIVED) != reads + 1) {}
}
#else
void kernel_main(void) {
    spend(10);
    __asm__ volatile(".rept 16\nnop\n.endr");
}
#endif
