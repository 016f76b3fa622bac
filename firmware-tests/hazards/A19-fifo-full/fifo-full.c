/* A19 fifo-full: TRISC1 pushes a whole tile of instructions behind a wait for a semaphore, and posts it after the last of them:
 * the FIFO is full before it gets there.
 * Seen in: tt-llk #1692.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { SEM = 3, ROUNDS = 4 };

#if THREAD == 1
void kernel_main(void) {
    push(TT_SEMINIT(15, 0, 1 << SEM));
    tensix_sync();
    for (u32 round = 0; round < ROUNDS; round++) {
        u32 many = BUG && round == 3 ? 120 : 8;
        push(TT_SEMWAIT(BLOCK_ALL, 1 << SEM, SEM_WHILE_ZERO));
        push(TT_SEMGET(1 << SEM));
        for (u32 i = 0; i < many; i++) push(TT_NOP); /* HERE */
        SEMAPHORE(SEM) = 0; /* even: post */
    }
    tensix_sync();
}
#else
void kernel_main(void) {}
#endif
