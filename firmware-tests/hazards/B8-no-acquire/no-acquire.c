/* B8 no-acquire: Math writes each tile to its half of Dst and never asks whether pack has done with it.
 * Seen in: tt-metal #45526.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "compute.h"

enum { TILES = 3, OUT = 0x30000 };

#if THREAD == 1
void kernel_main(void) {
    math_setup();
    push(TT_SFPLOADI_BF16(0, 0x3F80));
    MAILBOX(PEER_TRISC2) = 1;
    for (u32 tile = 0; tile < TILES; tile++) {
        push(TT_SETC16(1, tile % 2 * HALF_ROWS));
        if (!BUG) push(TT_SEMWAIT(BLOCK_MATH | BLOCK_SFPU, 1 << SEM_MATH, SEM_WHILE_MAX)); /* MISSING HERE */
        push(TT_SFPSTORE(0, SFP_BF16, 0));
        math_end();
    }
    tensix_sync();
}
#elif THREAD == 2
void kernel_main(void) {
    pack_setup();
    consume(MAILBOX(PEER_TRISC1));
    for (u32 tile = 0; tile < TILES; tile++) {
        pack_begin(tile % 2, OUT + FACE_BYTES * tile);
        pack_rows(0, 1);
        pack_end();
    }
    tensix_sync();
}
#else
void kernel_main(void) {}
#endif
