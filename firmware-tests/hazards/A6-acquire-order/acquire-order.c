/* A6 acquire-order: Math takes its turn before it gives pack the other one, and pack the other way round: after four good
 * rounds both wait for what the other gives behind its own wait.
 * Seen in: tt-metal #45526; tt-lang #231.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { TO_PACK = 2, TO_MATH = 3, ROUNDS = 5 };

#if THREAD == 1
void kernel_main(void) {
    push(TT_SEMINIT(1, 0, 1 << TO_PACK | 1 << TO_MATH));
    tensix_sync();
    MAILBOX(PEER_TRISC2) = 1;
    for (u32 round = 0; round < ROUNDS; round++) {
        u32 wrong = BUG && round == ROUNDS - 1;
        if (!wrong) push(TT_SEMPOST(1 << TO_PACK));
        push(TT_SEMWAIT(BLOCK_ALL, 1 << TO_MATH, SEM_WHILE_ZERO));
        push(TT_SEMGET(1 << TO_MATH));
        if (wrong) push(TT_SEMPOST(1 << TO_PACK)); /* HERE */
    }
    tensix_sync();
}
#elif THREAD == 2
void kernel_main(void) {
    consume(MAILBOX(PEER_TRISC1));
    for (u32 round = 0; round < ROUNDS; round++) {
        push(TT_SEMWAIT(BLOCK_ALL, 1 << TO_PACK, SEM_WHILE_ZERO));
        push(TT_SEMGET(1 << TO_PACK));
        push(TT_SEMPOST(1 << TO_MATH));
    }
    tensix_sync();
}
#else
void kernel_main(void) {}
#endif
