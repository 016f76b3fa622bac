/* Addresses of a Blackhole Tensix tile as its own cores see them, under the vendor's public register names.
 * What it is not: a driver. Only plain addresses and one-line accessors live here.
 * Sources: [isa-bh: TensixTile/BabyRISCV/README.md] memory map; [isa-bh: TensixTile/SoftReset.md];
 * [isa-bh: NoC/MemoryMap.md], [isa-bh: NoC/Counters.md]; [spec: boot-and-sync 2, 3, 5]. */
#ifndef TILE_H
#define TILE_H

/* Address bases. These few are also used from assembly. */
#define MEM_LOCAL_BASE              0xFFB00000
#define RISCV_TDMA_REGS_START_ADDR  0xFFB11000
#define RISCV_DEBUG_REGS_START_ADDR 0xFFB12000
#define NOC0_REGS_START_ADDR        0xFFB20000
#define NOC1_REGS_START_ADDR        0xFFB30000
#define NOC_OVERLAY_START_ADDR      0xFFB40000
#define TENSIX_MOP_CFG_BASE         0xFFB80000
#define REGFILE_BASE                0xFFE00000
#define INSTRN_BUF_BASE             0xFFE40000
#define INSTRN1_BUF_BASE            0xFFE50000
#define INSTRN2_BUF_BASE            0xFFE60000
#define PC_BUF_BASE                 0xFFE80000
#define PC1_BUF_BASE                0xFFE90000
#define PC2_BUF_BASE                0xFFEA0000
#define TENSIX_MAILBOX0_BASE        0xFFEC0000
#define TENSIX_CFG_BASE             0xFFEF0000

#ifndef __ASSEMBLER__
typedef unsigned char      u8;
typedef unsigned short     u16;
typedef unsigned int       u32;
typedef unsigned long long u64;
typedef int                i32;

#define REG32(address) (*(volatile u32 *)(address))
#define REG16(address) (*(volatile u16 *)(address))
#define REG8(address)  (*(volatile u8 *)(address))

/* Tile control block. */
#define SOFT_RESET_0              REG32(0xFFB121B0) /* 1 = held in reset */
#define SOFT_RESET_BRISC          0x00000800u
#define SOFT_RESET_TRISC0         0x00001000u
#define SOFT_RESET_TRISC1         0x00002000u
#define SOFT_RESET_TRISC2         0x00004000u
#define SOFT_RESET_NCRISC         0x00040000u
#define WALL_CLOCK_L              REG32(0xFFB121F0) /* reading it latches the high half into WALL_CLOCK_H */
#define WALL_CLOCK_1              REG32(0xFFB121F4) /* high half, live */
#define WALL_CLOCK_H              REG32(0xFFB121F8) /* high half, latched */
#define TRISC0_RESET_PC           REG32(0xFFB12228)
#define TRISC1_RESET_PC           REG32(0xFFB1222C)
#define TRISC2_RESET_PC           REG32(0xFFB12230)
#define TRISC_RESET_PC_OVERRIDE   REG32(0xFFB12234) /* bit i: TRISC i starts at its register */
#define NCRISC_RESET_PC           REG32(0xFFB12238)
#define NCRISC_RESET_PC_OVERRIDE  REG32(0xFFB1223C) /* bit 0 */
#define DEST_CG_CTRL              REG32(0xFFB12240)
#define TDMA_CLK_GATE_EN          REG32(0xFFB11024)

/* Local RAM of each core through the slow path that every core may use. */
#define LOCAL_SLOW_BRISC   0xFFB14000
#define LOCAL_SLOW_NCRISC  0xFFB16000
#define LOCAL_SLOW_TRISC0  0xFFB18000
#define LOCAL_SLOW_TRISC1  0xFFB1A000
#define LOCAL_SLOW_TRISC2  0xFFB1C000

/* Back-end configuration. RISCV_IC_INVALIDATE takes a core mask: B, T0, T1, T2, NC = bits 0..4. */
#define CFG_WORD(index)     REG32(TENSIX_CFG_BASE + 4 * (index))
#define RISCV_IC_INVALIDATE CFG_WORD(185)
#define PRNG_SEED           CFG_WORD(186)

/* PCBuf, TTSync and semaphores. */
#define PC_BUF(thread)             REG32(PC_BUF_BASE + 0x10000 * (thread)) /* BRISC side */
#define PC_BUF_OWN                 REG32(PC_BUF_BASE)                      /* TRISC side */
#define COPROCESSOR_DONE_CHECK     REG32(PC_BUF_BASE + 4)
#define MOP_EXPANDER_DONE_CHECK    REG32(PC_BUF_BASE + 8)
#define SEMAPHORE(index)           REG32(PC_BUF_BASE + 0x20 + 4 * (index)) /* write 0 posts, write 1 gets */

/* Mailboxes: on core c, a write to peer k pushes c->k and a read of peer k pops k->c. */
enum { PEER_BRISC = 0, PEER_TRISC0 = 1, PEER_TRISC1 = 2, PEER_TRISC2 = 3 };
#define MAILBOX(peer)       REG32(TENSIX_MAILBOX0_BASE + 0x1000 * (peer))
#define MAILBOX_QUERY(peer) REG32(TENSIX_MAILBOX0_BASE + 0x1000 * (peer) + 4)

/* MOP configuration (TRISC only, write only). */
#define MOP_CFG_WORD(index) REG32(TENSIX_MOP_CFG_BASE + 4 * (index))

/* Tensix general-purpose registers of the own thread; for BRISC, thread t is at +0x100 t. */
#define GPR(index) REG32(REGFILE_BASE + 4 * (index))

/* Overlay stream registers; 8 and 10 hold 17 bits and serve as circular-buffer credits. */
#define STREAM_REG(stream, index) REG32(NOC_OVERLAY_START_ADDR + 0x1000 * (stream) + 4 * (index))
#define STREAM_TILES_ACKED(stream)    STREAM_REG(stream, 8)
#define STREAM_TILES_RECEIVED(stream) STREAM_REG(stream, 10)
#define STREAM_COUNT_MASK             0x1FFFFu

/* NoC interface unit n: request initiator b, counters, identity. */
#define NIU_REG(n, offset)         REG32(NOC0_REGS_START_ADDR + 0x10000 * (n) + (offset))
#define NIU_CMD(n, b, offset)      NIU_REG(n, 0x800 * (b) + (offset))
enum {
    NOC_TARG_ADDR_LO = 0x00, NOC_TARG_ADDR_MID = 0x04, NOC_TARG_ADDR_HI = 0x08,
    NOC_RET_ADDR_LO = 0x0C, NOC_RET_ADDR_MID = 0x10, NOC_RET_ADDR_HI = 0x14,
    NOC_PACKET_TAG = 0x18, NOC_CTRL = 0x1C, NOC_AT_LEN_BE = 0x20, NOC_AT_LEN_BE_1 = 0x24,
    NOC_AT_DATA = 0x28, NOC_CMD_CTRL = 0x40,
    NIU_CFG_0 = 0x100, ROUTER_CFG_0 = 0x104, NOC_ID_LOGICAL = 0x148,
    NIU_MST_ATOMIC_RESP_RECEIVED = 0x200, NIU_MST_WR_ACK_RECEIVED = 0x204,
    NIU_MST_RD_RESP_RECEIVED = 0x208, NIU_MST_NONPOSTED_WR_REQ_SENT = 0x228,
    NIU_MST_POSTED_WR_REQ_SENT = 0x22C,
};
enum {
    NOC_CMD_RD = 0, NOC_CMD_AT = 1, NOC_CMD_WR = 2, NOC_CMD_WR_INLINE = 1 << 3,
    NOC_CMD_RESP_MARKED = 1 << 4, NOC_CMD_VC_STATIC = 1 << 7,
};
#define NOC_CMD_STATIC_VC(vc) ((u32)(vc) << 13)

/* Orders earlier stores before later loads and drops the L0 data cache [isa-bh: MemoryOrdering.md]. */
static inline void fence(void) { __asm__ volatile("fence" ::: "memory"); }

/* Waits until `word` has been used by an instruction, i.e. until its load has really returned. */
static inline void consume(u32 word) { __asm__ volatile("and x0, x0, %0" ::"r"(word) : "memory"); }

static inline u32 csr_set_cfg0(u32 bits) {
    u32 old;
    __asm__ volatile("csrrs %0, 0x7C0, %1" : "=r"(old) : "r"(bits) : "memory");
    return old;
}
static inline u32 csr_clear_cfg0(u32 bits) {
    u32 old;
    __asm__ volatile("csrrc %0, 0x7C0, %1" : "=r"(old) : "r"(bits) : "memory");
    return old;
}

/* L1 atomics of Zaamo; the assembler knows them only as part of `a`. */
static inline u32 amoadd(volatile u32 *address, u32 value) {
    u32 old;
    __asm__ volatile(".option push\n.option arch, +a\namoadd.w %0, %2, (%1)\n.option pop"
                     : "=r"(old) : "r"(address), "r"(value) : "memory");
    return old;
}
#endif
#endif
