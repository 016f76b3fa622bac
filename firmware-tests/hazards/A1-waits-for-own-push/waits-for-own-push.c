/* A1 waits-for-own-push: Pack waits for pages of the buffer that it fills itself, where it should reserve room.
 * Seen in: tt-metal #21373.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { IN = 0, OUT = 16, PAGES = 4, ROOM = 2 };

#ifdef ROLE_NCRISC
void kernel_main(void) {
    for (u32 page = 0; page < PAGES; page++) {
        cb_reserve_back(IN, 1, ROOM);
        cb_push_back(IN, 1);
    }
}
#elif defined(ROLE_BRISC)
void kernel_main(void) {
    for (u32 page = 0; page < PAGES; page++) {
        cb_wait_front(OUT, 1);
        cb_pop_front(OUT, 1);
    }
}
#elif THREAD == 0
void kernel_main(void) {
    for (u32 page = 0; page < PAGES; page++) {
        cb_wait_front(IN, 1);
        cb_pop_front(IN, 1);
    }
}
#elif THREAD == 2
void kernel_main(void) {
    for (u32 page = 0; page < PAGES; page++) {
        if (BUG) cb_wait_front(OUT, 1); /* HERE */
        else cb_reserve_back(OUT, 1, ROOM);
        cb_push_back(OUT, 1);
    }
}
#else
void kernel_main(void) {}
#endif
