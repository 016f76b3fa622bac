/* A1 wait-with-clock: The writer looks at the clock while it waits for a page, and says by a waypoint that it is late: a loop
 * that stores and sees time go by is not closed, so the end is a limit and the class a hint.
 * Seen in: tt-metal #3856, watcher.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

#define WAYPOINT_BRISC REG32(0x60 + 0x4D4)
enum { CB = 11, PAGES = 5, ROOM = 2, LATE = 500 };

#ifdef ROLE_BRISC
static u32 __attribute__((noinline)) clock(void) { return WALL_CLOCK_L; }

static void wait_front(u32 pages) {
    u32 start = clock();
    while (cb_pages(CB) < pages) {
        if (clock() - start > LATE) WAYPOINT_BRISC = 'L' | 'A' << 8 | 'T' << 16;
    }
}

void kernel_main(void) {
    for (u32 page = 0; page < PAGES; page++) {
        wait_front(1);
        cb_pop_front(CB, 1);
    }
}
#else
void kernel_main(void) {
    for (u32 page = 0; page < PAGES - BUG; page++) { /* HERE */
        cb_reserve_back(CB, 1, ROOM);
        spend(50);
        cb_push_back(CB, 1);
    }
}
#endif
