/* C14 cb-overrun: The reader reserves room before its first block only; compute is slower, so that the third block lies on pages
 * that nobody has read yet.
 * Seen in: tt-metal #26701, #42472.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { CB = 2, ROOM = 4, BLOCK = 2, TOTAL = 12 };

#ifdef ROLE_NCRISC
void kernel_main(void) {
    for (u32 page = 0; page < TOTAL; page += BLOCK) {
        if (!BUG || page == 0) cb_reserve_back(CB, BLOCK, ROOM);
        cb_push_back(CB, BLOCK); /* HERE */
    }
}
#elif THREAD == 0
void kernel_main(void) {
    for (u32 page = 0; page < TOTAL; page++) {
        cb_wait_front(CB, 1);
        spend(60);
        cb_pop_front(CB, 1);
    }
}
#else
void kernel_main(void) {}
#endif
