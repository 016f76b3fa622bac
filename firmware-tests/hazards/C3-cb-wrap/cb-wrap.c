/* C3 cb-wrap: Pages go through a buffer of four in blocks of three: every second block wraps in the middle.
 * Seen in: tt-metal #455, #26701, #42472.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { CB = 0, BLOCK = BUG ? 3 : 2, BLOCKS = 4 };

#ifdef ROLE_BRISC
void kernel_main(void) {
    for (u32 i = 0; i < BLOCKS; i++) {
        cb_reserve_back(CB, BLOCK, 4);
        cb_push_back(CB, BLOCK); /* HERE */
    }
}
#else
void kernel_main(void) {
    for (u32 i = 0; i < BLOCKS; i++) {
        cb_wait_front(CB, BLOCK);
        cb_pop_front(CB, BLOCK);
    }
}
#endif
