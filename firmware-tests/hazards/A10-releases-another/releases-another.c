/* A10 releases-another: Unpack takes mutex 2 and releases mutex 3, which it does not hold; pack waits for the second.
 * Seen in: tt-metal #56367.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

#if THREAD == 0
void kernel_main(void) {
    push(TT_ATGETM(2));
    push(TT_ATRELM(BUG ? 3 : 2)); /* HERE */
    tensix_sync();
    MAILBOX(PEER_TRISC2) = 1;
}
#elif THREAD == 2
void kernel_main(void) {
    consume(MAILBOX(PEER_TRISC0));
    push(TT_ATGETM(2));
    push(TT_ATRELM(2));
    tensix_sync();
}
#else
void kernel_main(void) {}
#endif
