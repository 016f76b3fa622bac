/* A10 lock-order: Unpack takes mutex 3 and then 4, pack 4 and then 3; after six rounds that do not meet they do.
 * Seen in: tt-llk #487.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { ROUNDS = 7 };

static inline void both(u32 first, u32 second, u32 between) {
    push(TT_ATGETM(first));
    if (between) {
        tensix_sync();
        spend(between);
    }
    push(TT_ATGETM(second));
    push(TT_ATRELM(second));
    push(TT_ATRELM(first));
    tensix_sync();
}

#if THREAD == 0
void kernel_main(void) {
    for (u32 round = 0; round < ROUNDS; round++) {
        u32 last = round == ROUNDS - 1;
        consume(MAILBOX(PEER_TRISC2));
        both(3, 4, last ? 100 : 0);
        if (!last) MAILBOX(PEER_TRISC2) = round;
    }
}
#elif THREAD == 2
void kernel_main(void) {
    for (u32 round = 0; round < ROUNDS; round++) {
        MAILBOX(PEER_TRISC0) = round;
        if (round != ROUNDS - 1) consume(MAILBOX(PEER_TRISC0)); /* in turns; the last time together */
        if (BUG) both(4, 3, 100); /* HERE */
        else both(3, 4, 100);
    }
}
#else
void kernel_main(void) {}
#endif
