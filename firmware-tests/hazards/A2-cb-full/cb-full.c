/* A2 cb-full: NCRISC pops all pages but one and ends; BRISC waits for room.
 * Seen in: tt-metal #10571, #43220.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { CB = 0, PAGES = 9, CAPACITY = 4 };

#ifdef ROLE_BRISC
void kernel_main(void) {
    for (u32 page = 0; page < PAGES; page++) {
        cb_reserve_back(CB, 1, CAPACITY);
        cb_push_back(CB, 1);
    }
}
#else
void kernel_main(void) {
    for (u32 page = 0; page < (BUG ? 3 : PAGES); page++) { /* HERE */
        cb_wait_front(CB, 1);
        cb_pop_front(CB, 1);
    }
}
#endif
