/* Transfers over the NoC as the hazard kernels ask for them.
 * Sources: [isa-bh: NoC/MemoryMap.md, NoC/Counters.md]. */
#ifndef NOC_H
#define NOC_H
#include "kernel.h"

static inline u32 noc_own_tile(u32 noc) {
    return NIU_REG(noc, NOC_ID_LOGICAL) & 0xFFF;
}

/* Asks for `bytes` bytes from address `from` of tile `tile` to address `to` of this one: a read or a write, as `control` says. */
static inline void noc_copy_from(u32 noc, u32 initiator, u32 control, u32 tile, u32 from, u32 to, u32 bytes) {
    while (NIU_CMD(noc, initiator, NOC_CMD_CTRL) != 0) {}
    NIU_CMD(noc, initiator, NOC_TARG_ADDR_LO) = from;
    NIU_CMD(noc, initiator, NOC_TARG_ADDR_MID) = 0;
    NIU_CMD(noc, initiator, NOC_TARG_ADDR_HI) = tile;
    NIU_CMD(noc, initiator, NOC_RET_ADDR_LO) = to;
    NIU_CMD(noc, initiator, NOC_RET_ADDR_MID) = 0;
    NIU_CMD(noc, initiator, NOC_RET_ADDR_HI) = noc_own_tile(noc);
    NIU_CMD(noc, initiator, NOC_PACKET_TAG) = 0;
    NIU_CMD(noc, initiator, NOC_CTRL) = control | NOC_CMD_VC_STATIC | NOC_CMD_STATIC_VC(1);
    NIU_CMD(noc, initiator, NOC_AT_LEN_BE) = bytes;
    NIU_CMD(noc, initiator, NOC_CMD_CTRL) = 1;
}

/* The same within this tile. */
static inline void noc_copy(u32 noc, u32 initiator, u32 control, u32 from, u32 to, u32 bytes) {
    noc_copy_from(noc, initiator, control, noc_own_tile(noc), from, to, bytes);
}

/* Waits until a counter of the interface shows `value`. */
static inline void noc_await(u32 noc, u32 counter, u32 value) {
    while (NIU_REG(noc, counter) != value) {}
    fence();
}
#endif
