/* C5 uninitialised-read: Math multiplies two tiles of a section of Dst by each other, of which it has put only one there; pack
 * clears each section that it gives back.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "compute.h"

enum { TILES = 4, OUT = 0x30000, SECOND = 64 };

#if THREAD == 1
void kernel_main(void) {
    math_setup();
    push(TT_SFPLOADI_BF16(1, 0x4000));
    MAILBOX(PEER_TRISC2) = 1;
    for (u32 tile = 0; tile < TILES; tile++) {
        math_begin(tile % 2);
        push(TT_SFPSTORE(1, SFP_BF16, 0));
        push(TT_SFPLOAD(0, SFP_BF16, 0));
        if (!BUG) push(TT_SFPSTORE(1, SFP_BF16, SECOND)); /* MISSING HERE */
        push(TT_SFPLOAD(2, SFP_BF16, SECOND));
        push(TT_SFPMAD(0, 0, 2, 9));
        push(TT_SFPNOP);
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
        push(TT_STALLWAIT(BLOCK_MATH, WAIT_PACK));
        for (u32 block = 0; block < 8; block++) push(TT_ZEROACC_16(tile % 2 * HALF_ROWS / 16 + block));
        pack_end();
    }
    tensix_sync();
}
#else
void kernel_main(void) {}
#endif
