/* A6 bound-in-math: A whole pipeline of which the number of tiles is a runtime argument; math stops one tile early, pack and the writer wait.
 * Seen in: tt-llk #71.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { IN = 0, OUT = 16, ROOM = 2, DST = 1 };

#ifdef ROLE_NCRISC
void kernel_main(void) {
    for (u32 tile = 0; tile < arg(0); tile++) {
        cb_reserve_back(IN, 1, ROOM);
        cb_push_back(IN, 1);
    }
}
#elif defined(ROLE_BRISC)
void kernel_main(void) {
    for (u32 tile = 0; tile < arg(0); tile++) {
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
    for (u32 tile = 0; tile < arg(0); tile++) {
        cb_wait_front(IN, 1);
        push(TT_STALLWAIT(BLOCK_ALL, WAIT_SRCA_CLR));
        push(TT_SETDVALID(1));
        tensix_sync();
        cb_pop_front(IN, 1);
    }
}
#elif THREAD == 1
void kernel_main(void) {
    consume(MAILBOX(PEER_TRISC0));
    u32 tiles = arg(0);
    for (u32 tile = BUG; tile < tiles; tile++) { /* HERE */
        push(TT_SEMWAIT(BLOCK_MATH, 1 << DST, SEM_WHILE_MAX));
        push(TT_STALLWAIT(BLOCK_ALL, WAIT_SRCA_VLD));
        push(TT_CLEARDVALID(1));
        push(TT_SEMPOST(1 << DST));
    }
    tensix_sync();
}
#else
void kernel_main(void) {
    consume(MAILBOX(PEER_TRISC0));
    for (u32 tile = 0; tile < arg(0); tile++) {
        cb_reserve_back(OUT, 1, ROOM);
        push(TT_SEMWAIT(BLOCK_SYNC, 1 << DST, SEM_WHILE_ZERO));
        push(TT_SEMGET(1 << DST));
        tensix_sync();
        cb_push_back(OUT, 1);
    }
}
#endif
