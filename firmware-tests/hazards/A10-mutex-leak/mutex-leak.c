/* A10 mutex-leak: Unpack takes mutex 2 and ends without ATRELM; pack waits for it.
 * Seen in: tt-metal #56367; tt-llk #1378.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { MUTEX = 2 };

#if THREAD == 0
void kernel_main(void) {
    push(TT_ATGETM(MUTEX));
    if (!BUG) push(TT_ATRELM(MUTEX)); /* MISSING HERE */
    tensix_sync();
    MAILBOX(PEER_TRISC2) = 1;
}
#elif THREAD == 2
void kernel_main(void) {
    consume(MAILBOX(PEER_TRISC0));
    push(TT_ATGETM(MUTEX));
    push(TT_ATRELM(MUTEX));
    tensix_sync();
}
#else
void kernel_main(void) {}
#endif
