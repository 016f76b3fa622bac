/* A1 count-from-mailbox: Unpack sends pack the number of tiles of a block, one too few for the second; the writer counts for itself.
 * Seen in: tt-metal #31291.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { OUT = 16, ROOM = 4, BLOCKS = 2, EACH = 4 };

#ifdef ROLE_BRISC
void kernel_main(void) {
    for (u32 page = 0; page < BLOCKS * EACH; page++) {
        cb_wait_front(OUT, 1);
        cb_pop_front(OUT, 1);
    }
}
#elif THREAD == 0
void kernel_main(void) {
    MAILBOX(PEER_TRISC2) = EACH;
    spend(50);
    MAILBOX(PEER_TRISC2) = EACH - BUG; /* HERE */
}
#elif THREAD == 2
void kernel_main(void) {
    for (u32 block = 0; block < BLOCKS; block++) {
        u32 tiles = MAILBOX(PEER_TRISC0);
        for (u32 tile = 0; tile < tiles; tile++) {
            cb_reserve_back(OUT, 1, ROOM);
            cb_push_back(OUT, 1);
        }
    }
}
#else
void kernel_main(void) {}
#endif
