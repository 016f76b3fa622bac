/* C17 over-the-next-buffer: The reader writes two words more than a page has: the second buffer begins there, with a page that unpack has not read.
 * Seen in: tt-metal #15337.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { FIRST = 0, SECOND = 1, ROOM = 1, PAGE = 0x100, BASE = 0x20000 };

#ifdef ROLE_NCRISC
void kernel_main(void) {
    spend(1500);
    cb_reserve_back(FIRST, 1, ROOM);
    for (u32 at = 0; at < PAGE + 8 * BUG; at += 4) REG32(BASE + at) = at; /* HERE */
    cb_push_back(FIRST, 1);
}
#elif defined(ROLE_BRISC)
void kernel_main(void) {
    for (u32 page = 0; page < 2; page++) {
        cb_reserve_back(SECOND, 1, ROOM);
        for (u32 at = 0; at < PAGE; at += 4) REG32(BASE + PAGE + at) = page;
        cb_push_back(SECOND, 1);
    }
}
#elif THREAD == 0
static void take(u32 cb) {
    cb_wait_front(cb, 1);
    (void)REG32(BASE + PAGE * cb);
    cb_pop_front(cb, 1);
}

void kernel_main(void) {
    take(SECOND);
    take(FIRST);
    take(SECOND);
}
#else
void kernel_main(void) {}
#endif
