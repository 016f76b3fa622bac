/* A1 wrong-buffer: The reader reserves pages of the right buffer and pushes them into another one, which nobody reads.
 * Seen in: tt-metal #21373.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { IN = 2, OTHER = 3, ROOM = 4, PAGES = 3 };

#ifdef ROLE_NCRISC
void kernel_main(void) {
    for (u32 page = 0; page < arg(0); page++) {
        cb_reserve_back(IN, 1, ROOM);
        spend(20);
        cb_push_back(BUG ? OTHER : IN, 1); /* HERE */
    }
}
#elif THREAD == 0
void kernel_main(void) {
    for (u32 page = 0; page < arg(0); page++) {
        cb_wait_front(IN, 1);
        cb_pop_front(IN, 1);
    }
}
#else
void kernel_main(void) {}
#endif
