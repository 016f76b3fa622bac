/* C3 uneven-pops: Unpack takes pages in blocks of 2, 2 and 3, which together are more than once round the buffer of six: the
 * block of three wraps in the middle.
 * Seen in: tt-metal #26701.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { CB = 7, ROOM = 6, TOTAL = 21 };

#ifdef ROLE_NCRISC
void kernel_main(void) {
    for (u32 page = 0; page < TOTAL; page++) {
        cb_reserve_back(CB, 1, ROOM);
        cb_push_back(CB, 1);
    }
}
#elif THREAD == 0
void kernel_main(void) {
    u32 round = 0;
    for (u32 page = 0; page < TOTAL; round++) {
        u32 block = BUG ? (round % 3 == 2 ? 3 : 2) : 3;
        cb_wait_front(CB, block);
        cb_pop_front(CB, block); /* HERE */
        page += block;
    }
}
#else
void kernel_main(void) {}
#endif
