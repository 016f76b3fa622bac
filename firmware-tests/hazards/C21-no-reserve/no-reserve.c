/* C21 cb-without-wait: The producer takes its time and pushes without having looked for room; there is some, as it happens.
 * Seen in: matmul_reduce of sdpa, compute_common.hpp of ttnn 0.81.1.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { CB = 6, ROOM = 2, TOTAL = 8 };

#ifdef ROLE_NCRISC
void kernel_main(void) {
    for (u32 page = 0; page < TOTAL; page++) {
        spend(600);
        if (!BUG) cb_reserve_back(CB, 1, ROOM); /* MISSING HERE */
        cb_push_back(CB, 1); /* HERE */
    }
}
#else
void kernel_main(void) {
    for (u32 page = 0; page < TOTAL; page++) {
        cb_wait_front(CB, 1);
        cb_pop_front(CB, 1);
    }
}
#endif
