/* A11 words-left: Unpack sends math two words for a tile of which math reads one: nothing hangs, but math is one word further
 * behind with each tile, and the next program finds the rest.
 * Seen in: tt-metal #57066.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { TILES = 3 };

#if THREAD == 0
void kernel_main(void) {
    for (u32 tile = 0; tile < TILES; tile++) {
        MAILBOX(PEER_TRISC1) = 0x1000 + tile;
        if (BUG && tile < 2) MAILBOX(PEER_TRISC1) = 0x2000 + tile; /* HERE */
        spend(20);
    }
}
#elif THREAD == 1
void kernel_main(void) {
    u32 sum = 0;
    for (u32 tile = 0; tile < TILES; tile++) sum += MAILBOX(PEER_TRISC0);
    REG32(0x30000) = sum;
}
#else
void kernel_main(void) {}
#endif
