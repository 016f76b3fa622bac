/* What a compute kernel needs: opcode macros of the unpackers, the matrix and vector units and the packer, and one small set-up
 * per thread for BF16 in L1, SrcA, SrcB and Dst. TRISC0 unpacks, TRISC1 computes, TRISC2 packs.
 * Between TRISC0 and TRISC1 bank ownership (dvalid) is the only synchronisation; between TRISC1 and TRISC2 semaphore
 * SEM_MATH counts finished halves of Dst; TRISC0 alternates between two configuration contexts, and SEM_UNPACK counts those
 * that are in use.
 * A face is 16 x 16 datums, 512 bytes, rows one after another.
 * Sources: [isa-wh: TensixCoprocessor/UNPACR_Regular.md, MVMUL.md, ELWADD.md, GAPOOL.md, MOVA2D.md, ZEROACC.md, SETRWC.md];
 * [isa-bh: TensixCoprocessor/PACR.md, STALLWAIT.md, SFPLOAD.md, SFPMAD.md]; field positions: table `backend_config` of crate isa. */
#ifndef COMPUTE_H
#define COMPUTE_H
#include "kernel.h"

#define TT_SETC16(index, value) TT_WORD(0xB2, ((index) << 16) | (value))
/* UNPACR of context `context`, counters of the own thread; `flip` hands the bank over. */
#define TT_UNPACR(unpacker, context, flip) TT_WORD(0x42, ((unpacker) << 23) | ((context) << 10) | (1 << 7) | ((flip) << 6))
#define TT_SETADC(sets, channel, dimension, value) TT_WORD(0x50, ((sets) << 21) | ((channel) << 20) | ((dimension) << 18) | (value))
#define TT_SETADCXX(sets, first, last)             TT_WORD(0x5E, ((sets) << 21) | ((last) << 10) | (first))
#define TT_SETADCZW_ZERO(sets)                     TT_WORD(0x54, ((sets) << 21) | 0xF)
#define TT_SETRWC_ZERO                             TT_WORD(0x37, 0xF)
#define TT_MVMUL(dst, modifier, clear)             TT_WORD(0x26, ((clear) << 22) | ((modifier) << 14) | (dst))
#define TT_ELWADD(dst, modifier, clear)            TT_WORD(0x28, ((clear) << 22) | ((modifier) << 14) | (dst))
#define TT_GAPOOL(dst, modifier, clear)            TT_WORD(0x34, ((clear) << 22) | (1 << 19) | ((modifier) << 15) | (dst))
#define TT_MOVA2D_8(dst, src, modifier)            TT_WORD(0x12, ((src) << 17) | ((modifier) << 14) | (2 << 12) | (dst))
#define TT_CLEARDVALID(banks)                      TT_WORD(0x36, (banks) << 22)
#define TT_ZEROACC_16(block)                       TT_WORD(0x10, (1 << 19) | (block))
#define TT_PACR(rows_mask, modifier, last)         TT_WORD(0x41, ((modifier) << 15) | ((rows_mask) << 8) | (last))
#define TT_SFPLOAD(lreg, mode, row)  TT_WORD(0x70, ((lreg) << 20) | ((mode) << 16) | (SFPU_KEEP << 13) | (row))
#define TT_SFPSTORE(lreg, mode, row) TT_WORD(0x72, ((lreg) << 20) | ((mode) << 16) | (SFPU_KEEP << 13) | (row))
#define TT_SFPLOADI_BF16(lreg, bits) TT_WORD(0x71, ((lreg) << 20) | (bits))
#define TT_SFPMAD(d, a, b, c)        TT_WORD(0x84, ((a) << 16) | ((b) << 12) | ((c) << 8) | ((d) << 4))
#define TT_SFPSETCC_NEGATIVE(lreg)   TT_WORD(0x7B, (lreg) << 8)
#define TT_SFPENCC_ALL               TT_WORD(0x8A, (3 << 12) | 10) /* flags in use, all set */
#define TT_SFPNOP                    TT_WORD(0x8F, 0)

enum { BF16 = 5, SFP_BF16 = 2 };
enum { UNPACK_A = 0, UNPACK_B = 1, SET_A = 1, SET_B = 2, SET_PACK = 4, DIM_Y = 1 };
enum { SEM_MATH = 1, SEM_UNPACK = 5, HALF_ROWS = 512, FACE_BYTES = 512 };
#define BLOCK_PACK   0x004u
#define BLOCK_UNPACK 0x008u

/* TRISC0. */
enum { THCON_WORDS = 48 }; /* from a field of unpacker 0 to that of unpacker 1 */
static inline void unpack_setup(u32 datums, u32 tileize_pitch) {
    for (u32 unpacker = 0; unpacker < 2; unpacker++) {
        u32 at = unpacker * THCON_WORDS;
        CFG_WORD(64 + at) = datums << 16 | 0x10 | BF16; /* tile descriptor: x, uncompressed, format */
        CFG_WORD(65 + at) = 1 << 16 | 1;                /* z, y */
        CFG_WORD(66 + at) = 0;
        CFG_WORD(67 + at) = 0;
        CFG_WORD(72 + at) = BF16;
        CFG_WORD(73 + at) = 3; /* contexts 0 and 1 are not compressed */
        CFG_WORD(92 + at) = BF16 << 20 | BF16 << 16;
        CFG_WORD(93 + at) = BF16 << 20 | BF16 << 16;
    }
    if (tileize_pitch) {
        u32 shift = tileize_pitch >> 4; /* row pitch in units of 16 bytes, twelve bits in three fields */
        CFG_WORD(72) = BF16 | 1 << 9 | (shift & 0xFFF) << 16;
    }
    CFG_WORD(84) = 64 << 16 | 64; /* output of contexts 1 and 0: row 0 of SrcA */
    CFG_WORD(86) = datums << 16 | datums;
    CFG_WORD(86 + THCON_WORDS) = datums << 16 | datums;
    consume(CFG_WORD(86 + THCON_WORDS));
    push(TT_SETC16(5, 4)); /* SRCA_SET_SetOvrdWithAddr */
    push(TT_SETADCXX(SET_A | SET_B, 0, datums - 1));
    push(TT_SETADC(SET_A | SET_B, 0, DIM_Y, 0));
    push(TT_SETADCZW_ZERO(SET_A | SET_B));
    push(TT_SEMINIT(2, 0, 1 << SEM_UNPACK));
    tensix_sync();
}

/* One operand pair, through context `context`; `b` may be 0 for SrcA alone. */
static inline void unpack(u32 context, u32 a, u32 b) {
    while (SEMAPHORE(SEM_UNPACK) >= 2) {} /* both contexts in use */
    CFG_WORD(76 + context) = a / 16 - 1;
    CFG_WORD(76 + THCON_WORDS + context) = b / 16 - 1;
    consume(CFG_WORD(76 + THCON_WORDS + context));
    SEMAPHORE(SEM_UNPACK) = 0;
    push(TT_STALLWAIT(BLOCK_UNPACK, WAIT_TRISC_CFG));
    push(TT_UNPACR(UNPACK_A, context, 1));
    if (b) push(TT_UNPACR(UNPACK_B, context, 1));
    push(TT_STALLWAIT(BLOCK_SYNC, WAIT_UNPACK0 | WAIT_UNPACK1));
    push(TT_SEMGET(1 << SEM_UNPACK));
}

/* TRISC1. Address modifiers, applied after an instruction. */
enum { KEEP = 0, NEXT_PHASE = 1, NEXT_ROWS = 2, RESTART = 3, SFPU_KEEP = 7 };
static inline void modifier(u32 slot, u32 src_a, u32 src_b, u32 dst) {
    push(TT_SETC16(12 + slot, src_b << 8 | src_a));
    push(TT_SETC16(28 + slot, dst));
}
enum { AB_CLEAR = 1 << 7, FIDELITY_NEXT = 1 << 13, FIDELITY_CLEAR = 1 << 15 };
static inline void math_setup(void) {
    CFG_WORD(1) = BF16 << 25 | BF16 << 21 | BF16 << 17; /* ALU_FORMAT_SPEC_REG2_Dstacc, REG1_SrcB, REG0_SrcA; 16-bit Dst */
    consume(CFG_WORD(1));
    modifier(KEEP, 0, 0, 0);
    modifier(SFPU_KEEP, 0, 0, 0);
    modifier(NEXT_PHASE, 0, 0, FIDELITY_NEXT);
    modifier(NEXT_ROWS, 8, 8, FIDELITY_CLEAR);
    modifier(RESTART, AB_CLEAR, AB_CLEAR, FIDELITY_CLEAR);
    push(TT_SETRWC_ZERO);
    push(TT_SEMINIT(2, 0, 1 << SEM_MATH));
    tensix_sync();
}
static inline void math_begin(u32 half) {
    push(TT_SEMWAIT(BLOCK_MATH | BLOCK_SFPU, 1 << SEM_MATH, SEM_WHILE_MAX));
    push(TT_SETC16(1, half * HALF_ROWS)); /* DEST_TARGET_REG_CFG_MATH_Offset */
}
static inline void math_end(void) {
    push(TT_STALLWAIT(BLOCK_SYNC, WAIT_MATH | WAIT_SFPU));
    push(TT_SEMPOST(1 << SEM_MATH));
}

/* TRISC2. Address modifiers: after a group of rows, and after the last one. */
enum { PACK_KEEP = 0, PACK_NEXT_4 = 1, PACK_NEXT_2 = 2 };
static inline void pack_setup(void) {
    CFG_WORD(12) = 32 << 16;              /* a row of Dst is 32 bytes */
    CFG_WORD(13) = 0;
    CFG_WORD(14) = 0;                     /* output addresses come from L1_Dest_addr alone */
    CFG_WORD(15) = 0;
    CFG_WORD(18) = 0;                     /* 16-bit Dst */
    for (u32 i = 20; i < 24; i++) CFG_WORD(i) = 0;
    for (u32 i = 24; i < 28; i++) CFG_WORD(i) = 0xFFFF; /* no edge masking */
    CFG_WORD(68) = 0;
    CFG_WORD(70) = BF16 << 8 | BF16 << 4 | 1;
    CFG_WORD(71) = 0;
    consume(CFG_WORD(71));
    push(TT_SETC16(37 + PACK_KEEP, 0));
    push(TT_SETC16(37 + PACK_NEXT_4, 4));
    push(TT_SETC16(37 + PACK_NEXT_2, 2));
    push(TT_SETADCXX(SET_PACK, 0, 15));
    push(TT_SETADC(SET_PACK, 0, DIM_Y, 0));
    push(TT_SETADC(SET_PACK, 1, DIM_Y, 0));
    push(TT_SETADCZW_ZERO(SET_PACK));
    tensix_sync();
}
/* Waits for a half of Dst and turns the packer to it; its output begins at `out`. */
static inline void pack_begin(u32 half, u32 out) {
    tensix_sync(); /* what was packed before is out */
    CFG_WORD(180) = half * HALF_ROWS; /* DEST_TARGET_REG_CFG_PACK_SEC0_Offset */
    CFG_WORD(69) = out / 16 - 1;
    consume(CFG_WORD(69));
    push(TT_STALLWAIT(BLOCK_PACK, WAIT_TRISC_CFG));
    push(TT_SEMWAIT(BLOCK_PACK, 1 << SEM_MATH, SEM_WHILE_ZERO));
}
static inline void pack_row(u32 row) { push(TT_SETADC(SET_PACK, 0, DIM_Y, row)); }
/* `groups` groups of four rows from `row` on. */
static inline void pack_rows(u32 row, u32 groups) {
    pack_row(row);
    while (groups--) push(TT_PACR(0xF, PACK_NEXT_4, groups == 0));
}
static inline void pack_end(void) {
    push(TT_STALLWAIT(BLOCK_SYNC, WAIT_PACK));
    push(TT_SEMGET(1 << SEM_MATH));
}
#endif
