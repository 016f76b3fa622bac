/* BRISC sends 1 KiB to its own tile over the NoC and raises a flag in L1 without waiting for the write: NCRISC sees the flag
 * before the data. Seen in: tt-metal #48478. */
#include "hazard.h"

enum { SOURCE = 0x30000, TARGET = 0x31000, FLAG = 0x32000, RESULT = 0x32040, BYTES = 1024 };

#ifdef ROLE_BRISC
void kernel_main(void) {
    for (u32 i = 0; i < BYTES; i += 4) REG32(SOURCE + i) = 1;
    fence();
    u32 id = NIU_REG(0, NOC_ID_LOGICAL) & 0xFFF, acks = NIU_REG(0, NIU_MST_WR_ACK_RECEIVED);
    NIU_CMD(0, 0, NOC_TARG_ADDR_LO) = SOURCE;
    NIU_CMD(0, 0, NOC_TARG_ADDR_MID) = 0;
    NIU_CMD(0, 0, NOC_TARG_ADDR_HI) = id;
    NIU_CMD(0, 0, NOC_RET_ADDR_LO) = TARGET;
    NIU_CMD(0, 0, NOC_RET_ADDR_MID) = 0;
    NIU_CMD(0, 0, NOC_RET_ADDR_HI) = id;
    NIU_CMD(0, 0, NOC_PACKET_TAG) = 0;
    NIU_CMD(0, 0, NOC_CTRL) = NOC_CMD_WR | NOC_CMD_RESP_MARKED | NOC_CMD_VC_STATIC | NOC_CMD_STATIC_VC(1);
    NIU_CMD(0, 0, NOC_AT_LEN_BE) = BYTES;
    NIU_CMD(0, 0, NOC_CMD_CTRL) = 1;
    REG32(FLAG) = 1; /* the barrier below belongs here */
    while (NIU_REG(0, NIU_MST_WR_ACK_RECEIVED) != acks + 1) {}
}
#else
void kernel_main(void) {
    while (REG32(FLAG) == 0) {}
    REG32(RESULT) = REG32(TARGET + BYTES - 4);
}
#endif
