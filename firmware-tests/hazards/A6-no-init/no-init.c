/* A6 no-init: Nobody sets the semaphore up in this program: its maximum is 0, and math stands before a semaphore that is at its maximum.
 * Seen in: tt-llk #71.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { DST = 6 };

#if THREAD == 1
void kernel_main(void) {
    if (!BUG) push(TT_SEMINIT(2, 0, 1 << DST)); /* MISSING HERE */
    push(TT_SEMWAIT(BLOCK_ALL, 1 << DST, SEM_WHILE_MAX));
    push(TT_SEMPOST(1 << DST));
    tensix_sync();
}
#elif THREAD == 2
void kernel_main(void) {
    spend(100);
    push(TT_SEMWAIT(BLOCK_ALL, 1 << DST, SEM_WHILE_ZERO));
    push(TT_SEMGET(1 << DST));
    tensix_sync();
}
#else
void kernel_main(void) {}
#endif
