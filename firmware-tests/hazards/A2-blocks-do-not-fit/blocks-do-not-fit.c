/* A2 blocks-do-not-fit: Pack pushes blocks of three pages into a buffer of four, the writer takes four at once: three are there, four are
 * waited for, and there is no room for the next block.
 * Seen in: tt-metal #43220, #26701.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { OUT = 16, BLOCK = 3, BLOCKS = 4, ROOM = BUG ? 4 : 6, AT_ONCE = BUG ? 4 : 3 };

#ifdef ROLE_BRISC
void kernel_main(void) {
    for (u32 page = 0; page < BLOCK * BLOCKS; page += AT_ONCE) {
        cb_wait_front(OUT, AT_ONCE); /* HERE */
        cb_pop_front(OUT, AT_ONCE);
    }
}
#elif THREAD == 2
void kernel_main(void) {
    for (u32 block = 0; block < BLOCKS; block++) {
        cb_reserve_back(OUT, BLOCK, ROOM);
        spend(10);
        cb_push_back(OUT, BLOCK);
    }
}
#else
void kernel_main(void) {}
#endif
