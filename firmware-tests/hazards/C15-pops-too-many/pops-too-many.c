/* C15 pops-too-many: Unpack waits for one page and pops a block of two. The counters then say that there are more pages in the buffer
 * than it has, and the reader waits for room for ever.
 * Seen in: tt-metal #455.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { CB = 4, ROOM = 4, TOTAL = 8 };

#ifdef ROLE_NCRISC
void kernel_main(void) {
    for (u32 page = 0; page < TOTAL; page++) {
        spend(200);
        cb_reserve_back(CB, 1, ROOM);
        cb_push_back(CB, 1);
    }
}
#elif THREAD == 0
void kernel_main(void) {
    for (u32 page = 0; page < TOTAL; page++) {
        cb_wait_front(CB, 1);
        cb_pop_front(CB, BUG && page == 2 ? 2 : 1); /* HERE */
    }
}
#else
void kernel_main(void) {}
#endif
