/* A1 pipeline-starved: Reader, unpack, math, pack and writer in a row: the reader stops one page short, and everybody behind it
 * waits for something else (a page, a bank, a semaphore, a page again). The reader is the cause.
 * Seen in: tt-metal #3856, #21373.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { IN = 2, OUT = 17, TILES = 6, ROOM = 2, DST = 1 };

#ifdef ROLE_NCRISC
void kernel_main(void) {
    for (u32 page = 0; page < TILES - BUG; page++) { /* HERE */
        cb_reserve_back(IN, 1, ROOM);
        spend(30);
        cb_push_back(IN, 1);
    }
}
#elif defined(ROLE_BRISC)
void kernel_main(void) {
    for (u32 page = 0; page < TILES; page++) {
        cb_wait_front(OUT, 1);
        cb_pop_front(OUT, 1);
    }
}
#elif THREAD == 0
void kernel_main(void) {
    push(TT_CLEARDVALID_RESET);
    push(TT_SEMINIT(2, 0, 1 << DST));
    tensix_sync();
    MAILBOX(PEER_TRISC1) = 1;
    MAILBOX(PEER_TRISC2) = 1;
    for (u32 tile = 0; tile < TILES; tile++) {
        cb_wait_front(IN, 1);
        push(TT_STALLWAIT(BLOCK_ALL, WAIT_SRCB_CLR));
        push(TT_SETDVALID(2));
        tensix_sync();
        cb_pop_front(IN, 1);
    }
}
#elif THREAD == 1
void kernel_main(void) {
    consume(MAILBOX(PEER_TRISC0));
    for (u32 tile = 0; tile < TILES; tile++) {
        push(TT_SEMWAIT(BLOCK_MATH, 1 << DST, SEM_WHILE_MAX));
        push(TT_STALLWAIT(BLOCK_ALL, WAIT_SRCB_VLD));
        push(TT_CLEARDVALID(2));
        push(TT_SEMPOST(1 << DST));
    }
    tensix_sync();
}
#else
void kernel_main(void) {
    consume(MAILBOX(PEER_TRISC0));
    for (u32 tile = 0; tile < TILES; tile++) {
        cb_reserve_back(OUT, 1, ROOM);
        push(TT_SEMWAIT(BLOCK_SYNC, 1 << DST, SEM_WHILE_ZERO));
        push(TT_SEMGET(1 << DST));
        tensix_sync();
        cb_push_back(OUT, 1);
    }
}
#endif
