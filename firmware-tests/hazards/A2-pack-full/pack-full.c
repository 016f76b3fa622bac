/* A2 pack-full: The writer on NCRISC leaves its loop early, after five good pages, because a flag of its own says so; pack
 * waits for room, reading only the acknowledged count as vendor kernels do, and math waits for pack.
 * Seen in: tt-metal #10571.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { OUT = 20, TILES = 9, ROOM = 3, DST = 1 };

#ifdef ROLE_NCRISC
void kernel_main(void) {
    for (u32 page = 0; page < TILES; page++) {
        if (BUG && page == 5) break; /* HERE */
        cb_wait_front(OUT, 1);
        spend(20);
        cb_pop_front(OUT, 1);
    }
}
#elif THREAD == 1
void kernel_main(void) {
    push(TT_SEMINIT(1, 0, 1 << DST));
    tensix_sync();
    MAILBOX(PEER_TRISC2) = 1;
    for (u32 tile = 0; tile < TILES; tile++) {
        push(TT_SEMWAIT(BLOCK_ALL, 1 << DST, SEM_WHILE_MAX));
        push(TT_SEMPOST(1 << DST));
    }
    tensix_sync();
}
#elif THREAD == 2
static u32 __attribute__((noinline)) free_pages(u32 received) {
    return ROOM - ((received - STREAM_TILES_ACKED(OUT)) & 0xFFFF);
}

void kernel_main(void) {
    consume(MAILBOX(PEER_TRISC1));
    for (u32 tile = 0; tile < TILES; tile++) {
        while (free_pages(tile) < 1) fence();
        push(TT_SEMWAIT(BLOCK_SYNC, 1 << DST, SEM_WHILE_ZERO));
        push(TT_SEMGET(1 << DST));
        tensix_sync();
        STREAM_TILES_RECEIVED(OUT) = tile + 1;
    }
}
#else
void kernel_main(void) {}
#endif
