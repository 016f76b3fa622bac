/* C21 cb-without-wait: The consumer takes its time and pops pages that it has not waited for; they are there, as it happens.
 * Seen in: groupnorm_sharded_v2.cpp of ttnn 0.81.1.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { CB = 5, ROOM = 4, TOTAL = 8 };

#ifdef ROLE_NCRISC
void kernel_main(void) {
    for (u32 page = 0; page < TOTAL; page++) {
        cb_reserve_back(CB, 1, ROOM);
        cb_push_back(CB, 1);
    }
}
#else
void kernel_main(void) {
    for (u32 page = 0; page < TOTAL; page++) {
        spend(600);
        if (!BUG) cb_wait_front(CB, 1); /* MISSING HERE */
        cb_pop_front(CB, 1); /* HERE */
    }
}
#endif
