/* A1 waits-for-too-many: The reader pushes seven pages; unpack takes them in blocks of two and waits for two where one is left.
 * Seen in: tt-metal #3856.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { IN = 1, ROOM = 4 };

#ifdef ROLE_NCRISC
void kernel_main(void) {
    for (u32 page = 0; page < arg(0); page++) {
        cb_reserve_back(IN, 1, ROOM);
        cb_push_back(IN, 1);
    }
}
#elif THREAD == 0
void kernel_main(void) {
    u32 left = arg(0);
    while (left > 0) {
        u32 block = BUG || left > 1 ? 2 : 1;
        cb_wait_front(IN, block); /* HERE */
        cb_pop_front(IN, block);
        left -= left < block ? left : block;
    }
}
#else
void kernel_main(void) {}
#endif
