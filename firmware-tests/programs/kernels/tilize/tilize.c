/* Between a row-major matrix and tiles of 32 x 32, which are four faces.
 * Tilize: the unpacker reads 32 rows of 32 datums with the matrix's pitch (Tileize_mode); a row of the matrix becomes two rows of
 * Dst, and the packer writes every second row, four times. With -DUNTILIZE the way back: faces in Dst, packed row by row, left
 * and right face in turn, into a matrix 32 columns wide.
 * Arguments  tiles, input, output, pitch of the matrix in bytes (tilize)
 * Sources: compute.h; [isa-wh: UNPACR_Regular.md], [spec: numerics 2] for rows of 32 datums. */
#include "compute.h"

enum { TILE_BYTES = 4 * FACE_BYTES, TILE_DATUMS = 1024 };

void kernel_main(void) {
    u32 tiles = arg(0);
#if THREAD == 0
#ifdef UNTILIZE
    unpack_setup(TILE_DATUMS, 0);
    for (u32 i = 0; i < tiles; i++) unpack(i & 1, arg(1) + i * TILE_BYTES, 0);
#else
    unpack_setup(TILE_DATUMS, arg(3));
    for (u32 i = 0; i < tiles; i++) unpack(i & 1, arg(1) + i * 64, 0); /* 32 columns further */
#endif
#elif THREAD == 1
    math_setup();
    for (u32 i = 0; i < tiles; i++) {
        math_begin(i & 1);
        for (u32 row = 0; row < 64; row += 8) push(TT_MOVA2D_8(row, row, KEEP));
        push(TT_CLEARDVALID(1));
        math_end();
    }
#else
    pack_setup();
    for (u32 i = 0; i < tiles; i++) {
        pack_begin(i & 1, arg(2) + i * TILE_BYTES);
#ifdef UNTILIZE
        for (u32 row = 0; row < 32; row++)
            for (u32 right = 0; right < 2; right++) {
                pack_row((row & 16) * 2 + (row & 15) + 16 * right);
                push(TT_PACR(1, PACK_KEEP, row == 31 && right));
            }
#else
        for (u32 face = 0; face < 4; face++) {
            pack_row((face >> 1) * 32 + (face & 1));
            for (u32 row = 0; row < 16; row++) push(TT_PACR(1, PACK_NEXT_2, face == 3 && row == 15));
        }
#endif
        pack_end();
    }
#endif
    tensix_sync();
}
