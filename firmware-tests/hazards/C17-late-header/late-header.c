/* C17 late-header: The writer of a page puts its header in after the push; the consumer may have read the page before.
 * Seen in: tt-metal review of cb_push_back before the last store.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { CB = 5, BASE = 0x20000, PAGE = 0x400, ROOM = 2, TOTAL = 6 };

#ifdef ROLE_NCRISC
void kernel_main(void) {
    for (u32 page = 0; page < TOTAL; page++) {
        u32 at = BASE + PAGE * (page % ROOM);
        cb_reserve_back(CB, 1, ROOM);
        REG32(at + 4) = page;
        if (!BUG) REG32(at) = 0xC0DE;
        cb_push_back(CB, 1);
        if (BUG) REG32(at) = 0xC0DE; /* HERE */
    }
}
#elif THREAD == 0
void kernel_main(void) {
    for (u32 page = 0; page < TOTAL; page++) {
        cb_wait_front(CB, 1);
        spend(80);
        consume(REG32(BASE + PAGE * (page % ROOM) + 4));
        cb_pop_front(CB, 1);
    }
}
#else
void kernel_main(void) {}
#endif
