/* A3 three-in-a-ring: Three kernels in a ring, each of which waits for room in the buffer to the next before it frees what it
 * got from the last.
 * Seen in: tt-lang #1037.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { COUNT = 7, ROOM = BUG ? 1 : COUNT };

/* Puts all in, then takes all out. */
static inline void first(u32 in, u32 out) {
    for (u32 i = 0; i < COUNT; i++) {
        cb_reserve_back(out, 1, ROOM); /* HERE */
        cb_push_back(out, 1);
    }
    for (u32 i = 0; i < COUNT; i++) {
        cb_wait_front(in, 1);
        cb_pop_front(in, 1);
    }
}

static inline void pass_on(u32 in, u32 out) {
    for (u32 i = 0; i < COUNT; i++) {
        cb_wait_front(in, 1);
        cb_reserve_back(out, 1, ROOM);
        cb_push_back(out, 1);
        cb_pop_front(in, 1);
    }
}

void kernel_main(void) {
#if defined(ROLE_NCRISC)
    first(10, 8);
#elif defined(ROLE_TRISC0)
    pass_on(8, 9);
#elif defined(ROLE_BRISC)
    pass_on(9, 10);
#endif
}
