/* A11 word-of-another-launch: The first launch leaves a word in the mailbox to pack; the second takes it for its number of tiles, and its writer waits for
 * a page that is never packed.
 * Seen in: tt-metal #57066.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { OUT = 16, ROOM = 4 };

#ifdef ROLE_BRISC
void kernel_main(void) {
    for (u32 page = 0; page < arg(0); page++) {
        cb_wait_front(OUT, 1);
        cb_pop_front(OUT, 1);
    }
}
#elif THREAD == 0
void kernel_main(void) {
    MAILBOX(PEER_TRISC2) = arg(0);
    if (BUG) MAILBOX(PEER_TRISC2) = 1; /* HERE */
}
#elif THREAD == 2
void kernel_main(void) {
    u32 tiles = MAILBOX(PEER_TRISC0);
    for (u32 tile = 0; tile < tiles; tile++) {
        cb_reserve_back(OUT, 1, ROOM);
        cb_push_back(OUT, 1);
    }
}
#else
void kernel_main(void) {}
#endif
