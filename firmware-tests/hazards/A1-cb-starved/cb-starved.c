/* A1 cb-starved: NCRISC waits for a fourth page of CB 0; BRISC pushes three and ends.
 * Seen in: tt-metal #3856, #21373.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { CB = 0, PAGES = 4 };

#ifdef ROLE_BRISC
void kernel_main(void) {
    for (u32 page = 0; page < PAGES - BUG; page++) { /* HERE */
        cb_reserve_back(CB, 1, 8);
        cb_push_back(CB, 1);
    }
}
#else
void kernel_main(void) {
    for (u32 page = 0; page < PAGES; page++) {
        cb_wait_front(CB, 1);
        cb_pop_front(CB, 1);
    }
}
#endif
