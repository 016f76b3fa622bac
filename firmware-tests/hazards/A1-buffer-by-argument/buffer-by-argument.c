/* A1 buffer-by-argument: a reader, a copier and a writer take the numbers of their buffers from arguments, and the reader's
 * is another one than the copier's: nobody pops what it pushes. The code of none says which buffers it means.
 * Seen in: many kernels that are used with several sets of buffers.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { PAGES = 6, ROOM = 2 };

#ifdef ROLE_NCRISC
void kernel_main(void) {
    u32 to = BUG ? arg(1) : arg(0);
    for (u32 page = 0; page < PAGES; page++) {
        cb_reserve_back(to, 1, ROOM);
        cb_push_back(to, 1); /* HERE */
    }
}
#elif defined ROLE_BRISC
void kernel_main(void) {
    for (u32 page = 0; page < PAGES; page++) {
        cb_wait_front(arg(0), 1);
        cb_pop_front(arg(0), 1);
    }
}
#elif THREAD == 0
void kernel_main(void) {
    for (u32 page = 0; page < PAGES; page++) {
        cb_wait_front(arg(0), 1);
        cb_reserve_back(arg(1), 1, ROOM);
        cb_pop_front(arg(0), 1);
        cb_push_back(arg(1), 1);
    }
}
#else
void kernel_main(void) {}
#endif
