/* A19 tensix-sync-blocked: TRISC0 waits for its Tensix thread, which waits for a semaphore that TRISC0 posts only after that wait.
 * Seen in: tt-metal #9091; tt-llk #1692.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { SEM = 4, ROUNDS = 3 };

#if THREAD == 0
void kernel_main(void) {
    push(TT_SEMINIT(15, 0, 1 << SEM));
    tensix_sync();
    for (u32 round = 0; round < ROUNDS; round++) {
        u32 late = BUG && round == ROUNDS - 1;
        if (!late) SEMAPHORE(SEM) = 0; /* even: post */
        push(TT_SEMWAIT(BLOCK_SYNC, 1 << SEM, SEM_WHILE_ZERO));
        push(TT_SEMGET(1 << SEM));
        tensix_sync();
        if (late) SEMAPHORE(SEM) = 0; /* HERE */
    }
}
#else
void kernel_main(void) {}
#endif
