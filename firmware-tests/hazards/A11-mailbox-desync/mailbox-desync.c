/* A11 mailbox-desync: Unpack sends an address per tile to math and pack; a condition guards one of the pushes only on its side.
 * Seen in: tt-metal #57066, #31291.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { TILES = 5 };

#if THREAD == 0
void kernel_main(void) {
    for (u32 tile = 0; tile < TILES; tile++) {
        MAILBOX(PEER_TRISC1) = 0x1000 + tile;
        if (!BUG || tile % 4 != 3) MAILBOX(PEER_TRISC2) = 0x2000 + tile; /* HERE */
    }
}
#elif THREAD == 1
void kernel_main(void) {
    for (u32 tile = 0; tile < TILES; tile++) consume(MAILBOX(PEER_TRISC0));
}
#else
void kernel_main(void) {
    for (u32 tile = 0; tile < TILES; tile++) consume(MAILBOX(PEER_TRISC0));
}
#endif
