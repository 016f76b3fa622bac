/* A11 never-pushed: Math wants a word of unpack for each page, and gives the reader room once it has it. Unpack sends none, and waits for the
 * next page: everybody waits for the next one in a circle, and only one of them is wrong.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { IN = 0, ROOM = 1, PAGES = 4 };

#ifdef ROLE_NCRISC
void kernel_main(void) {
    for (u32 page = 0; page < PAGES; page++) {
        cb_wait_front(ROOM, 1);
        cb_pop_front(ROOM, 1);
        cb_push_back(IN, 1);
    }
}
#elif THREAD == 0
/* As the vendor's kernels have it: where mailboxes are stands in a table. */
static volatile u32 *volatile mailbox = &MAILBOX(PEER_TRISC1);

void kernel_main(void) {
    for (u32 page = 0; page < PAGES; page++) {
        cb_wait_front(IN, 1);
        cb_pop_front(IN, 1);
        if (!BUG) *mailbox = page;
    }
}
#elif THREAD == 1
void kernel_main(void) {
    cb_push_back(ROOM, 1);
    for (u32 page = 0; page < PAGES; page++) {
        consume(MAILBOX(PEER_TRISC0)); /* HERE */
        if (page + 1 < PAGES) cb_push_back(ROOM, 1);
    }
}
#else
void kernel_main(void) {}
#endif
