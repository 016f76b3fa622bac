/* A3 own-fill-and-drain: A compute kernel fills and drains a mask buffer by itself: pack puts in more than the buffer holds
 * before unpack takes out anything, because unpack takes only after pack says that all are in.
 * Seen in: tt-metal #42917.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { MASK = 24, ROOM = 4, MASKS = BUG ? 5 : 4 };

#if THREAD == 0
void kernel_main(void) {
    consume(MAILBOX(PEER_TRISC2)); /* all masks are in */
    for (u32 page = 0; page < MASKS; page++) {
        cb_wait_front(MASK, 1);
        cb_pop_front(MASK, 1);
    }
}
#elif THREAD == 2
void kernel_main(void) {
    for (u32 page = 0; page < MASKS; page++) { /* HERE */
        cb_reserve_back(MASK, 1, ROOM);
        cb_push_back(MASK, 1);
    }
    MAILBOX(PEER_TRISC0) = MASKS;
}
#else
void kernel_main(void) {}
#endif
