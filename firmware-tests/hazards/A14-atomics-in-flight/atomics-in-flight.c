/* A14 atomics-in-flight: BRISC raises a semaphore of its own tile by NoC atomics that want an answer and returns without the
 * barrier for atomics; its write barrier is met.
 * Seen in: tt-metal #45963, #9523.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { ATOMIC = 3, WRAP_32 = 31 };

static void increment(u32 address, u32 by) {
    u32 id = NIU_REG(0, NOC_ID_LOGICAL) & 0xFFF;
    while (NIU_CMD(0, ATOMIC, NOC_CMD_CTRL) != 0) {}
    NIU_CMD(0, ATOMIC, NOC_TARG_ADDR_LO) = address;
    NIU_CMD(0, ATOMIC, NOC_TARG_ADDR_MID) = 0;
    NIU_CMD(0, ATOMIC, NOC_TARG_ADDR_HI) = id;
    NIU_CMD(0, ATOMIC, NOC_RET_ADDR_LO) = L1_ATOMIC_RETURN;
    NIU_CMD(0, ATOMIC, NOC_RET_ADDR_MID) = 0;
    NIU_CMD(0, ATOMIC, NOC_RET_ADDR_HI) = id;
    NIU_CMD(0, ATOMIC, NOC_PACKET_TAG) = 0;
    NIU_CMD(0, ATOMIC, NOC_CTRL) = NOC_CMD_AT | NOC_CMD_RESP_MARKED | NOC_CMD_VC_STATIC | NOC_CMD_STATIC_VC(1);
    NIU_CMD(0, ATOMIC, NOC_AT_LEN_BE) = 1 << 12 | WRAP_32 << 2 | (address >> 2 & 3);
    NIU_CMD(0, ATOMIC, NOC_AT_DATA) = by;
    NIU_CMD(0, ATOMIC, NOC_CMD_CTRL) = 1;
}

void kernel_main(void) {
    u32 before = NIU_REG(0, NIU_MST_ATOMIC_RESP_RECEIVED);
    for (u32 i = 0; i < 3; i++) increment(0x30000, 1);
    if (!BUG) while (NIU_REG(0, NIU_MST_ATOMIC_RESP_RECEIVED) != before + 3) {} /* MISSING HERE */
}
