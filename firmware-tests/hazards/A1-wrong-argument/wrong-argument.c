/* A1 wrong-argument: The host gives the reader seven pages and the writer eight; the kernels are as they should be.
 * Seen in: tt-metal #21373.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { CB = 0, ROOM = 4 };

#ifdef ROLE_NCRISC
void kernel_main(void) {
    u32 pages = arg(1); /* HERE */
    for (u32 page = 0; page < pages; page++) {
        cb_reserve_back(CB, 1, ROOM);
        cb_push_back(CB, 1);
    }
}
#else
void kernel_main(void) {
    u32 pages = arg(0);
    for (u32 page = 0; page < pages; page++) {
        cb_wait_front(CB, 1);
        cb_pop_front(CB, 1);
    }
}
#endif
