/* A11 room-shared: unpack tells math and pack of each block, and pack does not listen. Its words fill the room that all
 * mailboxes of unpack share, and unpack stands before the empty one of math.
 * Seen in: kernels that tell all threads of a tile's address or of a number of rounds.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { BLOCKS = 7 };

#if THREAD == 0
void kernel_main(void) {
    for (u32 block = 0; block < BLOCKS; block++) {
        MAILBOX(PEER_TRISC1) = block;
        MAILBOX(PEER_TRISC2) = block;
    }
}
#elif THREAD == 1
void kernel_main(void) {
    u32 sum = 0;
    for (u32 block = 0; block < BLOCKS; block++) sum += MAILBOX(PEER_TRISC0);
    REG32(0x30000) = sum;
}
#else
void kernel_main(void) {
    u32 sum = 0;
    for (u32 block = 0; block < BLOCKS && !BUG; block++) sum += MAILBOX(PEER_TRISC0);
    REG32(0x30004) = sum;
}
#endif
