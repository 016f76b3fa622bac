/* What kernels of several tiles do to each other: counts, data and flags over the NoC. A tile is a word as NOC_TARG_ADDR_HI
 * takes it, `y << 6 | x`; a rectangle has its first corner 12 bits higher.
 * Sources: [isa-bh: NoC/MemoryMap.md, NoC/Counters.md], [isa-wh: NoC/Atomics.md]. */
#ifndef TILES_H
#define TILES_H
#include "kernel.h"

enum { WRITER = 0, READER = 1, COUNTER = 3 };
enum { NOC_CMD_BRCST_PACKET = 1 << 5, NOC_CMD_PATH_RESERVE = 1 << 8, NOC_CMD_BRCST_SRC_INCLUDE = 1 << 17 };
#define AT_INCREMENT(address) (1u << 12 | 31u << 2 | ((address) >> 2 & 3))
#define WORD(address) (*(volatile u32 *)(address))
#define TILE(x, y) ((y) << 6 | (x))

static inline void noc_request(u32 noc, u32 initiator, u32 control, u32 target, u32 at, u32 back, u32 home, u32 length) {
    while (NIU_CMD(noc, initiator, NOC_CMD_CTRL) != 0) {}
    NIU_CMD(noc, initiator, NOC_TARG_ADDR_LO) = at;
    NIU_CMD(noc, initiator, NOC_TARG_ADDR_MID) = 0;
    NIU_CMD(noc, initiator, NOC_TARG_ADDR_HI) = target;
    NIU_CMD(noc, initiator, NOC_RET_ADDR_LO) = back;
    NIU_CMD(noc, initiator, NOC_RET_ADDR_MID) = 0;
    NIU_CMD(noc, initiator, NOC_RET_ADDR_HI) = home;
    NIU_CMD(noc, initiator, NOC_PACKET_TAG) = 0;
    NIU_CMD(noc, initiator, NOC_CTRL) = control | NOC_CMD_RESP_MARKED | NOC_CMD_VC_STATIC;
    NIU_CMD(noc, initiator, NOC_AT_LEN_BE) = length;
}

/* Raises a word of another tile, and goes on when that is done. */
static inline void raise(u32 noc, u32 tile, u32 address, u32 by) {
    u32 home = NIU_REG(noc, NOC_ID_LOGICAL) & 0xFFF, before = NIU_REG(noc, NIU_MST_ATOMIC_RESP_RECEIVED);
    noc_request(noc, COUNTER, NOC_CMD_AT | NOC_CMD_STATIC_VC(1), tile, address, L1_ATOMIC_RETURN, home, AT_INCREMENT(address));
    NIU_CMD(noc, COUNTER, NOC_AT_DATA) = by;
    NIU_CMD(noc, COUNTER, NOC_CMD_CTRL) = 1;
    while (NIU_REG(noc, NIU_MST_ATOMIC_RESP_RECEIVED) == before) {}
    fence();
}

/* Writes bytes of this tile to another one, and goes on when they are there. */
static inline void send(u32 noc, u32 tile, u32 from, u32 to, u32 bytes) {
    u32 home = NIU_REG(noc, NOC_ID_LOGICAL) & 0xFFF, before = NIU_REG(noc, NIU_MST_WR_ACK_RECEIVED);
    noc_request(noc, WRITER, NOC_CMD_WR | NOC_CMD_STATIC_VC(1), home, from, to, tile, bytes);
    NIU_CMD(noc, WRITER, NOC_CMD_CTRL) = 1;
    while (NIU_REG(noc, NIU_MST_WR_ACK_RECEIVED) == before) {}
    fence();
}

/* Writes bytes of this tile to `count` tiles of a rectangle, and goes on when they are there; `more` may have
 * NOC_CMD_BRCST_SRC_INCLUDE. */
static inline void multicast(u32 noc, u32 rectangle, u32 count, u32 more, u32 from, u32 to, u32 bytes) {
    u32 home = NIU_REG(noc, NOC_ID_LOGICAL) & 0xFFF, before = NIU_REG(noc, NIU_MST_WR_ACK_RECEIVED);
    u32 control = NOC_CMD_WR | NOC_CMD_BRCST_PACKET | NOC_CMD_PATH_RESERVE | NOC_CMD_STATIC_VC(4) | more;
    noc_request(noc, WRITER, control, home, from, to, rectangle, bytes);
    NIU_CMD(noc, WRITER, NOC_CMD_CTRL) = 1;
    while (NIU_REG(noc, NIU_MST_WR_ACK_RECEIVED) - before < count) {}
    fence();
}

/* Reads bytes of another tile or of DRAM, and goes on when they are here. */
static inline void fetch(u32 noc, u32 tile, u32 from, u32 to, u32 bytes) {
    u32 home = NIU_REG(noc, NOC_ID_LOGICAL) & 0xFFF, before = NIU_REG(noc, NIU_MST_RD_RESP_RECEIVED);
    noc_request(noc, READER, NOC_CMD_RD | NOC_CMD_STATIC_VC(1), tile, from, to, home, bytes);
    NIU_CMD(noc, READER, NOC_CMD_CTRL) = 1;
    while (NIU_REG(noc, NIU_MST_RD_RESP_RECEIVED) == before) {}
    fence();
}

/* Waits until a word of this tile has reached `value`. */
static inline void await(u32 address, u32 value) {
    while (WORD(address) < value) fence();
}

static inline void spend(u32 rounds) {
    for (u32 i = 0; i < rounds; i++) __asm__ volatile("nop");
}
#endif
