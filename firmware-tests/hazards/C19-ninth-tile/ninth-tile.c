/* C19 ninth-tile: Math puts the tiles of a block one behind another into Dst, and the ninth falls into the half that is pack's.
 * Seen in: tt-llk, the assertions on dst_index.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "compute.h"

enum { BLOCKS = 2, TILES = 8 + BUG, TILE_ROWS = 64, OUT = 0x30000 };

#if THREAD == 1
void kernel_main(void) {
    math_setup();
    push(TT_SFPLOADI_BF16(0, 0x3F80));
    MAILBOX(PEER_TRISC2) = 1;
    for (u32 block = 0; block < BLOCKS; block++) {
        math_begin(block % 2);
        for (u32 tile = 0; tile < TILES; tile++) {
            push(TT_SETC16(1, block % 2 * HALF_ROWS + tile * TILE_ROWS));
            push(TT_SFPSTORE(0, SFP_BF16, 0)); /* HERE */
        }
        math_end();
    }
    tensix_sync();
}
#elif THREAD == 2
void kernel_main(void) {
    pack_setup();
    consume(MAILBOX(PEER_TRISC1));
    for (u32 block = 0; block < BLOCKS; block++) {
        pack_begin(block % 2, OUT + FACE_BYTES * block);
        pack_rows(0, 1);
        pack_end();
    }
    tensix_sync();
}
#else
void kernel_main(void) {}
#endif
