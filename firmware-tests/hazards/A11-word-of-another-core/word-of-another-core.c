/* A11 word-of-another-core: Unpack sends the address of a tile to math and to pack; pack reads the mailbox of math, where nothing ever comes.
 * Seen in: tt-metal #31291, #49608.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

#if THREAD == 0
void kernel_main(void) {
    MAILBOX(PEER_TRISC1) = 0x1000;
    MAILBOX(PEER_TRISC2) = 0x2000;
}
#elif THREAD == 1
void kernel_main(void) { consume(MAILBOX(PEER_TRISC0)); }
#else
void kernel_main(void) {
    consume(MAILBOX(BUG ? PEER_TRISC1 : PEER_TRISC0)); /* HERE */
}
#endif
