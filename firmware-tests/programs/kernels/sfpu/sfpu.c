/* y = x * x + 1/2 where x >= 0, and x / 4 where x < 0, lane by lane in the vector unit, on BF16 in Dst.
 * Arguments  faces, input, output
 * Sources: compute.h; [isa-bh: SFPLOAD.md, SFPMAD.md, SFPSETCC.md, SFPENCC.md]. */
#include "compute.h"

#if THREAD == 1
enum { X = 0, Y = 1, HALF = 2, QUARTER = 3, ZERO = 9 };
static void rows(u32 row) {
    push(TT_SFPLOAD(X, SFP_BF16, row));
    push(TT_SFPMAD(Y, X, X, HALF));
    push(TT_SFPNOP);
    push(TT_SFPSETCC_NEGATIVE(X));
    push(TT_SFPMAD(Y, X, QUARTER, ZERO));
    push(TT_SFPNOP);
    push(TT_SFPENCC_ALL);
    push(TT_SFPSTORE(Y, SFP_BF16, row));
}
#endif

void kernel_main(void) {
    u32 faces = arg(0);
#if THREAD == 0
    unpack_setup(256, 0);
    for (u32 i = 0; i < faces; i++) unpack(i & 1, arg(1) + i * FACE_BYTES, 0);
#elif THREAD == 1
    math_setup();
    push(TT_SFPENCC_ALL);
    push(TT_SFPLOADI_BF16(HALF, 0x3F00));
    push(TT_SFPLOADI_BF16(QUARTER, 0x3E80));
    for (u32 i = 0; i < faces; i++) {
        math_begin(i & 1);
        push(TT_MOVA2D_8(0, 0, KEEP));
        push(TT_MOVA2D_8(8, 8, KEEP));
        push(TT_CLEARDVALID(1));
        push(TT_STALLWAIT(BLOCK_SFPU, WAIT_MATH));
        for (u32 row = 0; row < 16; row += 2) rows(row);
        math_end();
    }
#else
    pack_setup();
    for (u32 i = 0; i < faces; i++) {
        pack_begin(i & 1, arg(2) + i * FACE_BYTES);
        pack_rows(0, 4);
        pack_end();
    }
#endif
    tensix_sync();
}
