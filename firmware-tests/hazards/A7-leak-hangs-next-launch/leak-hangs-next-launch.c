/* A7 leak-hangs-next-launch: A late SETDVALID of unpack comes when math has cleared everything and ended. The first launch
 * reports done; after the second one SrcB is full and the third hangs.
 * Seen in: tt-metal #53413.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { TILES = 4 };

#if THREAD == 0
void kernel_main(void) {
    for (u32 tile = 0; tile < TILES; tile++) {
        push(TT_STALLWAIT(BLOCK_ALL, WAIT_SRCB_CLR));
        push(TT_SETDVALID(2));
    }
    tensix_sync();
    consume(MAILBOX(PEER_TRISC1)); /* math has ended */
    if (BUG) {
        push(TT_STALLWAIT(BLOCK_ALL, WAIT_SRCB_CLR));
        push(TT_SETDVALID(2)); /* HERE */
        tensix_sync();
    }
}
#elif THREAD == 1
void kernel_main(void) {
    /* Banks that an earlier launch has left are not waited for: as many clears as tiles. */
    for (u32 tile = 0; tile < TILES; tile++) {
        push(TT_STALLWAIT(BLOCK_ALL, WAIT_SRCB_VLD));
        push(TT_CLEARDVALID(2));
    }
    tensix_sync();
    MAILBOX(PEER_TRISC0) = TILES;
}
#else
void kernel_main(void) {}
#endif
