/* A1 early-return: The reader returns at a block of which it takes the length to be 0; the rest is never read.
 * Seen in: tt-metal #21373.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { CB = 0, ROOM = 4, BLOCKS = 4 };

#ifdef ROLE_NCRISC
static void __attribute__((noinline)) read_block(u32 pages) {
    for (u32 page = 0; page < pages; page++) {
        cb_reserve_back(CB, 1, ROOM);
        cb_push_back(CB, 1);
    }
}

void kernel_main(void) {
    for (u32 block = 0; block < BLOCKS; block++) {
        u32 pages = arg(block);
        if (BUG && pages == 0) return; /* HERE */
        read_block(pages);
    }
}
#else
void kernel_main(void) {
    for (u32 page = 0; page < arg(0); page++) {
        cb_wait_front(CB, 1);
        cb_pop_front(CB, 1);
    }
}
#endif
