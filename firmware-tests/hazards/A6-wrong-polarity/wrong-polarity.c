/* A6 wrong-polarity: Pack is to wait for a tile and waits with STALL_ON_MAX where it needs STALL_ON_ZERO: the semaphore is at
 * its maximum because math has done its work, and only pack would take it down.
 * Seen in: tt-llk #71; tt-metal #46112.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { PACK_DONE = 7, TILES = 5, CONDITION = BUG ? SEM_WHILE_MAX : SEM_WHILE_ZERO };

#if THREAD == 1
void kernel_main(void) {
    push(TT_SEMINIT(2, 0, 1 << PACK_DONE));
    tensix_sync();
    MAILBOX(PEER_TRISC2) = TILES;
    spend(10);
    for (u32 tile = 0; tile < TILES; tile++) {
        push(TT_SEMWAIT(BLOCK_ALL, 1 << PACK_DONE, SEM_WHILE_MAX));
        push(TT_SEMPOST(1 << PACK_DONE));
    }
    tensix_sync();
}
#elif THREAD == 2
void kernel_main(void) {
    consume(MAILBOX(PEER_TRISC1));
    spend(200); /* math is two tiles ahead */
    for (u32 tile = 0; tile < TILES; tile++) {
        push(TT_SEMWAIT(BLOCK_SYNC, 1 << PACK_DONE, CONDITION)); /* HERE */
        push(TT_SEMGET(1 << PACK_DONE));
    }
    tensix_sync();
}
#else
void kernel_main(void) {}
#endif
