/* A12 go-done-handshake: A stray store leaves a stale run message in the sync byte of a core that was never started:
 * firmware waits for it to report done, and it waits for GO.
 * Seen in: tt-metal #12666, #3651.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

#ifdef ROLE_NCRISC
void kernel_main(void) {
    if (BUG) MAILBOXES->sync.trisc[1] = SYNC_INIT; /* HERE */
}
#else
void kernel_main(void) {}
#endif
