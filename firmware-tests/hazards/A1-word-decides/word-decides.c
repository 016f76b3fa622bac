/* A1 word-decides: Unpack tells pack per tile whether there is anything to pack; of one tile it says no, and the writer waits for its page.
 * Seen in: tt-metal #31291.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { OUT = 16, ROOM = 4, TILES = 6 };

#ifdef ROLE_BRISC
void kernel_main(void) {
    for (u32 page = 0; page < TILES; page++) {
        cb_wait_front(OUT, 1);
        cb_pop_front(OUT, 1);
    }
}
#elif THREAD == 0
void kernel_main(void) {
    for (u32 tile = 0; tile < arg(0); tile++) {
        u32 rows = BUG && tile == 3 ? 0 : 32;
        MAILBOX(PEER_TRISC2) = rows; /* HERE */
    }
}
#elif THREAD == 2
void kernel_main(void) {
    for (u32 tile = 0; tile < arg(0); tile++) {
        u32 rows = MAILBOX(PEER_TRISC0);
        if (rows != 0) {
            cb_reserve_back(OUT, 1, ROOM);
            cb_push_back(OUT, 1);
        }
    }
}
#else
void kernel_main(void) {}
#endif
