/* C25 pops-too-few: The writer takes pages by threes and pops two of them, so that it takes the third one again in the next round, as
 * the first, and some are left at the end.
 * Seen in: tt-metal #43220.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { CB = 0, BLOCK = 3, ROOM = 6 };

#ifdef ROLE_NCRISC
void kernel_main(void) {
    for (u32 page = 0; page < arg(0) * BLOCK; page++) {
        cb_reserve_back(CB, 1, ROOM);
        cb_push_back(CB, 1);
    }
}
#else
void kernel_main(void) {
    for (u32 block = 0; block < arg(0); block++) {
        cb_wait_front(CB, BLOCK);
        cb_pop_front(CB, BUG ? BLOCK - 1 : BLOCK); /* HERE */
    }
}
#endif
