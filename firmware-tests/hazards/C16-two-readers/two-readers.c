/* C16 two-readers: Both data movers fill the same buffer, each from its own first page on; the pages of one lie on those of the other.
 * Seen in: tt-metal programming model: one producer and one consumer per circular buffer.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { LEFT = 0, RIGHT = BUG ? LEFT : 1, ROOM = 4, EACH = 3 };

static inline void fill(u32 cb) {
    for (u32 page = 0; page < EACH; page++) {
        cb_reserve_back(cb, 1, ROOM);
        cb_push_back(cb, 1); /* HERE */
    }
}

static inline void take(u32 cb, u32 pages) {
    for (u32 page = 0; page < pages; page++) {
        cb_wait_front(cb, 1);
        cb_pop_front(cb, 1);
    }
}

#if defined(ROLE_NCRISC)
void kernel_main(void) { fill(LEFT); }
#elif defined(ROLE_BRISC)
void kernel_main(void) {
    spend(100);
    fill(RIGHT);
}
#elif THREAD == 0
void kernel_main(void) {
    take(LEFT, BUG ? 2 * EACH : EACH);
    if (!BUG) take(RIGHT, EACH);
}
#else
void kernel_main(void) {}
#endif
