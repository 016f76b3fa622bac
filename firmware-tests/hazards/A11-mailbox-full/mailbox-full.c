/* A11 mailbox-full: BRISC asks math for a result per block; the reader of the answers was compiled out. Math stands before a
 * full mailbox, and BRISC waits for it to be done.
 * Seen in: tt-metal #49608.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { BLOCKS = 7 };

#ifdef ROLE_BRISC
static u32 __attribute__((noinline)) answer(void) { return MAILBOX(PEER_TRISC1); }

void kernel_main(void) {
    u32 sum = 0;
    for (u32 block = 0; block < BLOCKS; block++) {
        MAILBOX(PEER_TRISC1) = block;
        if (!BUG) sum += answer(); /* MISSING HERE */
    }
    REG32(0x30000) = sum;
}
#elif THREAD == 1
void kernel_main(void) {
    for (u32 block = 0; block < BLOCKS; block++) {
        u32 request = MAILBOX(PEER_BRISC);
        MAILBOX(PEER_BRISC) = request * 2;
    }
}
#else
void kernel_main(void) {}
#endif
