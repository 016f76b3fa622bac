/* A10 wait-inside: Math takes the mutex of the packer configuration and waits, still holding it, for a semaphore that pack
 * posts only after it has had the mutex itself.
 * Seen in: tt-metal #56367.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { MUTEX = 4, READY = 3 };

#if THREAD == 1
void kernel_main(void) {
    push(TT_SEMINIT(1, 0, 1 << READY));
    push(TT_ATGETM(MUTEX));
    tensix_sync();
    MAILBOX(PEER_TRISC2) = 1;
    if (!BUG) push(TT_ATRELM(MUTEX)); /* MISSING HERE */
    push(TT_SEMWAIT(BLOCK_ALL, 1 << READY, SEM_WHILE_ZERO));
    push(TT_SEMGET(1 << READY));
    if (BUG) push(TT_ATRELM(MUTEX));
    tensix_sync();
}
#elif THREAD == 2
void kernel_main(void) {
    consume(MAILBOX(PEER_TRISC1));
    push(TT_ATGETM(MUTEX));
    push(TT_SEMPOST(1 << READY));
    push(TT_ATRELM(MUTEX));
    tensix_sync();
}
#else
void kernel_main(void) {}
#endif
