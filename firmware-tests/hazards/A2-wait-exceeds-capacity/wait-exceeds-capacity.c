/* A2 wait-exceeds-capacity: The consumer wants four pages at once from a buffer of three; the producer, one page at a time,
 * waits for room: neither can go on.
 * Seen in: tt-metal #43220.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { CB = 5, ROOM = 3, BLOCK = BUG ? 4 : 3, PAGES = 12 };

#ifdef ROLE_BRISC
void kernel_main(void) {
    for (u32 page = 0; page < PAGES; page++) {
        cb_reserve_back(CB, 1, ROOM);
        cb_push_back(CB, 1);
    }
}
#elif THREAD == 0
void kernel_main(void) {
    for (u32 page = 0; page < PAGES; page += BLOCK) {
        cb_wait_front(CB, BLOCK); /* HERE */
        cb_pop_front(CB, BLOCK);
    }
}
#else
void kernel_main(void) {}
#endif
