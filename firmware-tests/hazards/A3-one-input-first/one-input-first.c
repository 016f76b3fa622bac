/* A3 one-input-first: The reader pushes all pages of one input before the first of the other; compute takes one of each in turn, and
 * the first buffer has not room for all. With room for them it works.
 * Seen in: tt-lang#1037, tt-metal #10571.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { IN0 = 0, IN1 = 1, PAGES = 6, ROOM = 4 };

static inline void fill(u32 cb, u32 pages) {
    for (u32 page = 0; page < pages; page++) {
        cb_reserve_back(cb, 1, ROOM);
        spend(10);
        cb_push_back(cb, 1);
    }
}

#ifdef ROLE_NCRISC
void kernel_main(void) {
    u32 once = BUG ? PAGES : 1;
    for (u32 page = 0; page < PAGES; page += once) {
        fill(IN0, once); /* HERE */
        fill(IN1, once);
    }
}
#elif THREAD == 0
void kernel_main(void) {
    for (u32 page = 0; page < PAGES; page++) {
        cb_wait_front(IN0, 1);
        cb_wait_front(IN1, 1);
        cb_pop_front(IN0, 1);
        cb_pop_front(IN1, 1);
    }
}
#else
void kernel_main(void) {}
#endif
