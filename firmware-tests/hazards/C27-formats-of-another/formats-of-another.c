/* C27 setting-of-another-program: Pack is not set up, and packs with the formats that the launch before has left.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "compute.h"

enum { TILES = 3, OUT = 0x30000 };

#if THREAD == 1
void kernel_main(void) {
    math_setup();
    push(TT_SFPLOADI_BF16(0, 0x3F80));
    MAILBOX(PEER_TRISC2) = 1;
    for (u32 tile = 0; tile < TILES; tile++) {
        math_begin(tile % 2);
        push(TT_SFPSTORE(0, SFP_BF16, 0));
        math_end();
    }
    tensix_sync();
}
#elif THREAD == 2
void kernel_main(void) {
    if (!BUG) pack_setup();
    consume(MAILBOX(PEER_TRISC1));
    for (u32 tile = 0; tile < TILES; tile++) {
        pack_begin(tile % 2, OUT + FACE_BYTES * tile);
        pack_rows(0, 1); /* HERE */
        pack_end();
    }
    tensix_sync();
}
#else
void kernel_main(void) {}
#endif
