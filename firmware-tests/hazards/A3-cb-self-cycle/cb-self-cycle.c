/* A3 cb-self-cycle: BRISC waits for room in CB 0 and NCRISC, who would make it, for room in CB 1, which only BRISC makes.
 * Seen in: tt-metal #42917, #10571, tt-lang #1037.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { REQUESTS = 0, ANSWERS = 1, COUNT = 6, CAPACITY = BUG ? 2 : COUNT };

#ifdef ROLE_BRISC
void kernel_main(void) {
    for (u32 i = 0; i < COUNT; i++) {
        cb_reserve_back(REQUESTS, 1, CAPACITY); /* HERE */
        cb_push_back(REQUESTS, 1);
    }
    for (u32 i = 0; i < COUNT; i++) {
        cb_wait_front(ANSWERS, 1);
        cb_pop_front(ANSWERS, 1);
    }
}
#else
void kernel_main(void) {
    for (u32 i = 0; i < COUNT; i++) {
        cb_wait_front(REQUESTS, 1);
        cb_reserve_back(ANSWERS, 1, CAPACITY);
        cb_push_back(ANSWERS, 1);
        cb_pop_front(REQUESTS, 1);
    }
}
#endif
