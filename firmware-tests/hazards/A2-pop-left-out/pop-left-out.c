/* A2 pop-left-out: The writer skips a page that it does not need, and forgets the pop; the reader finds no room for the last one.
 * Seen in: tt-metal #43220.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { CB = 0, ROOM = 4 };

#ifdef ROLE_NCRISC
void kernel_main(void) {
    for (u32 page = 0; page < arg(0); page++) {
        cb_reserve_back(CB, 1, ROOM);
        cb_push_back(CB, 1);
    }
}
#else
void kernel_main(void) {
    u32 pages = arg(0);
    for (u32 page = 0; page < pages; page++) {
        cb_wait_front(CB, 1);
        if (BUG && page == 6) continue; /* HERE */
        cb_pop_front(CB, 1);
        spend(5);
    }
    if (BUG) return;
    cb_wait_front(CB, ROOM);
    cb_pop_front(CB, ROOM);
}
#endif
