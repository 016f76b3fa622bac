/* A2 cb-request-exceeds-capacity: BRISC reserves more pages at once than the buffer has.
 * Seen in: tt-metal #43220.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { CB = 0, CAPACITY = 4, BLOCK = BUG ? 6 : 2 };

#ifdef ROLE_BRISC
void kernel_main(void) {
    cb_reserve_back(CB, 2, CAPACITY);
    cb_push_back(CB, 2);
    cb_reserve_back(CB, BLOCK, CAPACITY); /* HERE */
    cb_push_back(CB, BLOCK);
}
#else
void kernel_main(void) {
    cb_wait_front(CB, 2);
    cb_pop_front(CB, 2);
    cb_wait_front(CB, 2);
    cb_pop_front(CB, 2);
}
#endif
