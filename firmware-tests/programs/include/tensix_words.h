/* Encoders of the few Tensix instructions our programs push. Field positions: the instruction pages of [isa-bh: TensixCoprocessor]
 * where a page exists, otherwise of [isa-wh: TensixCoprocessor] with the opcode table `blackhole_opcodes.csv`. */
#ifndef TENSIX_WORDS_H
#define TENSIX_WORDS_H
#define TT_WORD(opcode, operands) ((((opcode) + 0u) << 24) | (operands))

#define TT_NOP       TT_WORD(0x02, 0)
#define TT_DMANOP    TT_WORD(0x60, 0)

/* Frontend expanders. `last` is the number of iterations minus one. */
#define TT_MOP0(last, mask_lo)  TT_WORD(0x01, ((last) << 16) | (mask_lo))
#define TT_MOP1                 TT_WORD(0x01, 1 << 23)
#define TT_MOP_CFG(mask_hi)     TT_WORD(0x03, (mask_hi))
#define TT_REPLAY(start, count, execute, load) TT_WORD(0x04, ((start) << 14) | ((count) << 4) | ((execute) << 1) | (load))

/* Scalar unit: GPR halves, addition with a 6-bit constant or a GPR. */
#define TT_SETDMAREG(half, value16)      TT_WORD(0x45, ((value16) << 8) | (half))
#define TT_ADDDMAREG_IMM(dst, imm6, src) TT_WORD(0x58, (1 << 23) | ((dst) << 12) | ((imm6) << 6) | (src))
#define TT_ADDDMAREG(dst, right, left)   TT_WORD(0x58, ((dst) << 12) | ((right) << 6) | (left))
#define TT_STOREREG(gpr, address)        TT_WORD(0x67, ((gpr) << 18) | ((((address) - 0xFFB00000) >> 2) & 0x3FFFF))
#define TT_LOADREG(gpr, address)         TT_WORD(0x68, ((gpr) << 18) | ((((address) - 0xFFB00000) >> 2) & 0x3FFFF))

/* Sync unit. `semaphores` is a mask. */
#define TT_ATGETM(mutex) TT_WORD(0xA0, (mutex))
#define TT_ATRELM(mutex) TT_WORD(0xA1, (mutex))
#define TT_STALLWAIT(block, conditions) TT_WORD(0xA2, ((block) << 15) | (conditions))
#define TT_SEMINIT(max, initial, semaphores) TT_WORD(0xA3, ((max) << 20) | ((initial) << 16) | ((semaphores) << 2))
#define TT_SEMPOST(semaphores) TT_WORD(0xA4, (semaphores) << 2)
#define TT_SEMGET(semaphores)  TT_WORD(0xA5, (semaphores) << 2)
#define TT_SEMWAIT(block, semaphores, condition) TT_WORD(0xA6, ((block) << 15) | ((semaphores) << 2) | (condition))
#define SEM_WHILE_ZERO 1u /* keep waiting while any named value is 0 */
#define SEM_WHILE_MAX  2u /* keep waiting while any named value is >= its maximum */

/* Block masks of the wait gate and wait conditions [isa-bh: STALLWAIT.md]. */
#define BLOCK_TDMA 0x001u
#define BLOCK_SYNC 0x002u
#define BLOCK_THCON 0x020u
#define BLOCK_MATH 0x040u
#define BLOCK_CFG  0x080u
#define BLOCK_SFPU 0x100u
#define BLOCK_ALL  0x1FFu
#define WAIT_THCON 0x0001u
#define WAIT_UNPACK0 0x0002u
#define WAIT_UNPACK1 0x0004u
#define WAIT_PACK 0x0008u
#define WAIT_MATH 0x0010u
#define WAIT_SRCA_CLR 0x0020u
#define WAIT_SRCB_CLR 0x0040u
#define WAIT_SRCA_VLD 0x0080u
#define WAIT_SRCB_VLD 0x0100u
#define WAIT_XMOV 0x0200u
#define WAIT_TRISC_CFG 0x0400u
#define WAIT_SFPU 0x0800u
#define WAIT_CFG 0x1000u

/* Configuration unit. */
#define TT_RMWCIB(byte, mask, value, index) TT_WORD(0xB3 + (byte), ((mask) << 16) | ((value) << 8) | (index))
#define TT_WRCFG(gpr, index) TT_WORD(0xB0, ((gpr) << 16) | (index))
#define TT_RDCFG(gpr, index) TT_WORD(0xB1, ((gpr) << 16) | (index))

#ifndef __ASSEMBLER__
#include "tile.h"
/* Pushes one word into the own thread's stream (TRISC i) or thread 0's (BRISC). */
static inline void push(u32 word) { REG32(INSTRN_BUF_BASE) = word; }

/* Waits until nothing of the own thread is in flight: store, load, and a use of the loaded value
 * before any other load of this window [isa-bh: ManualTTSync.md]. */
static inline void tensix_sync(void) {
    COPROCESSOR_DONE_CHECK = 0;
    consume(COPROCESSOR_DONE_CHECK);
}

/* The same word as a `.ttinsn`: rotated left by two, executed in the instruction stream. */
#define TTINSN(word) __asm__ volatile(".word %0" ::"i"((((u32)(word) << 2) | ((u32)(word) >> 30)) & 0xFFFFFFFFu) : "memory")
#endif
#endif
