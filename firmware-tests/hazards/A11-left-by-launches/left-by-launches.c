/* A11 left-by-launches: Each launch leaves one word in the mailbox from unpack to math; the fifth finds it full and hangs at a push
 * that is as it should be.
 * Seen in: tt-metal #57066, #49608.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

#if THREAD == 0
void kernel_main(void) {
    MAILBOX(PEER_TRISC1) = 1;
    MAILBOX(PEER_TRISC1) = 2; /* HERE */
}
#elif THREAD == 1
void kernel_main(void) {
    consume(MAILBOX(PEER_TRISC0));
    if (!BUG) consume(MAILBOX(PEER_TRISC0)); /* MISSING HERE */
}
#else
void kernel_main(void) {}
#endif
