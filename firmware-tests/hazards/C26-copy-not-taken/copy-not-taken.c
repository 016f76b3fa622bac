/* C26 dst-section-lost: Math copies two tiles to Dst, and adds only the first of them to itself: the second one is for nobody.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "compute.h"

enum { TILES = 4, IN = 0x20000, OUT = 0x30000, SECOND = 64 };

#if THREAD == 0
void kernel_main(void) {
    for (u32 word = 0; word < 2 * FACE_BYTES / 4; word++) ((volatile u32 *)IN)[word] = 0x3F803F80;
    unpack_setup(256, 0);
    for (u32 tile = 0; tile < TILES; tile++) {
        unpack(0, IN, 0);
        unpack(1, IN + FACE_BYTES, 0);
    }
    tensix_sync();
}
#elif THREAD == 1
static void copy(u32 half, u32 row) {
    push(TT_SETC16(1, half * HALF_ROWS + row));
    push(TT_MOVA2D_8(0, 0, KEEP));
    push(TT_MOVA2D_8(8, 8, KEEP));
    push(TT_CLEARDVALID(1));
}
void kernel_main(void) {
    math_setup();
    MAILBOX(PEER_TRISC2) = 1;
    for (u32 tile = 0; tile < TILES; tile++) {
        math_begin(tile % 2);
        copy(tile % 2, 0);
        copy(tile % 2, SECOND); /* HERE */
        push(TT_SETC16(1, tile % 2 * HALF_ROWS));
        push(TT_STALLWAIT(BLOCK_SFPU, WAIT_MATH));
        push(TT_SFPLOAD(0, SFP_BF16, 0));
        push(TT_SFPLOAD(2, SFP_BF16, BUG ? 0 : SECOND));
        push(TT_SFPMAD(0, 0, 2, 9));
        push(TT_SFPNOP);
        push(TT_SFPSTORE(0, SFP_BF16, 0));
        math_end();
    }
    tensix_sync();
}
#else
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
#endif
