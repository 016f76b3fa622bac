/* Operations whose functions are named as those of the vendor's library are: what sets one up, what runs it and what ends it
 * [hdr: tt-llk llk_lib]. What they do is ours, and as little as possible: `explain` goes by the names. */
#ifndef OPERATIONS_H
#define OPERATIONS_H
#include "compute.h"

#define OPERATION static inline __attribute__((always_inline)) void
#define TT_SFPCONFIG(dest) TT_WORD(0x91, (dest) << 4)

/* One MOP of one instruction. */
OPERATION mop_program(u32 word) {
    MOP_EXPANDER_DONE_CHECK = 0;
    consume(MOP_EXPANDER_DONE_CHECK);
    MOP_CFG_WORD(0) = 1;
    MOP_CFG_WORD(1) = 1;
    for (u32 i = 2; i < 9; i++) MOP_CFG_WORD(i) = TT_NOP;
    MOP_CFG_WORD(5) = word;
}

OPERATION _llk_math_doubling_init_(void) { mop_program(TT_SFPMAD(0, 0, 10, 0)); }
OPERATION _llk_math_doubling_(void) { push(TT_MOP1); }
OPERATION _llk_math_increment_init_(void) { mop_program(TT_SFPMAD(0, 0, 10, 10)); }
OPERATION _llk_math_increment_(void) { push(TT_MOP1); }
OPERATION _llk_math_scale_sfpu_init_(void) {
    push(TT_SFPLOADI_BF16(0, 0x4000));
    push(TT_SFPCONFIG(12));
}
OPERATION _llk_math_scale_sfpu_(void) { push(TT_SFPMAD(0, 0, 12, 9)); }

/* Both clear a face of Dst and write to its first rows. */
OPERATION clear_and_write(u32 face) {
    push(TT_ZEROACC_16(face));
    push(TT_SFPSTORE(0, SFP_BF16, 0));
}
OPERATION _llk_math_reduce_(u32 face) { clear_and_write(face); }
OPERATION _llk_math_eltwise_unary_datacopy_(u32 face) { clear_and_write(face); }

/* Unpacker 0 takes rows that lie apart, or not. */
enum { UNPACK_FORMAT = 72 };
OPERATION _llk_unpack_tilize_init_(void) {
    CFG_WORD(UNPACK_FORMAT) = BF16 | 1 << 9;
    consume(CFG_WORD(UNPACK_FORMAT));
    mop_program(TT_NOP);
}
OPERATION _llk_unpack_tilize_(void) { push(TT_MOP1); }
OPERATION _llk_unpack_tilize_uninit_(void) {
    tensix_sync();
    CFG_WORD(UNPACK_FORMAT) = BF16;
    consume(CFG_WORD(UNPACK_FORMAT));
}
OPERATION _llk_unpack_A_init_(void) { mop_program(TT_DMANOP); }
OPERATION _llk_unpack_A_(void) { push(TT_MOP1); }

/* The mask of edges lets one column of a row pass, or all. */
enum { EDGE_MASK = 24, MASK_GPR = 20 };
OPERATION edge_mask(u32 mask) {
    push(TT_SETDMAREG(2 * MASK_GPR, mask));
    push(TT_SETDMAREG(2 * MASK_GPR + 1, 0));
    push(TT_STALLWAIT(BLOCK_CFG, WAIT_THCON | WAIT_PACK));
    push(TT_WRCFG(MASK_GPR, EDGE_MASK));
    push(TT_NOP);
}
OPERATION _llk_pack_reduce_mask_config_(void) { edge_mask(1); }
OPERATION _llk_pack_reduce_mask_clear_(void) { edge_mask(0xFFFF); }
#endif
