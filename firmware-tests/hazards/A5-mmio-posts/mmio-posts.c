/* A5 mmio-posts: TRISC0 posts a semaphore through its window for every page it has ready, math takes them in blocks: in a block
 * of twenty the sixteenth post is lost, and the block is never complete.
 * Seen in: tt-metal #56189.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { READY = 6, BLOCK = BUG ? 20 : 15, BLOCKS = 2 };

#if THREAD == 0
void kernel_main(void) {
    consume(MAILBOX(PEER_TRISC1));
    for (u32 block = 0; block < BLOCKS; block++) {
        for (u32 i = 0; i < BLOCK; i++) SEMAPHORE(READY) = 0; /* even: post */ /* HERE */
        MAILBOX(PEER_TRISC1) = block;
        consume(MAILBOX(PEER_TRISC1));
    }
}
#elif THREAD == 1
static u32 __attribute__((noinline)) ready(void) { return SEMAPHORE(READY); }

void kernel_main(void) {
    push(TT_SEMINIT(15, 0, 1 << READY));
    tensix_sync();
    MAILBOX(PEER_TRISC0) = 0;
    for (u32 block = 0; block < BLOCKS; block++) {
        consume(MAILBOX(PEER_TRISC0));
        for (u32 i = 0; i < BLOCK; i++) {
            while (ready() == 0) {}
            SEMAPHORE(READY) = 1; /* odd: get */
        }
        MAILBOX(PEER_TRISC0) = block;
    }
}
#else
void kernel_main(void) {}
#endif
