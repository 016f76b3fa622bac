/* C1 frame-over-a-bound: A frame that is too large for the stack of pack lies over the number of tiles: it packs more than there are.
 * Seen in: tt-metal #15066.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { DST = 1 };

#if THREAD == 1
void kernel_main(void) {
    push(TT_SEMINIT(2, 0, 1 << DST));
    tensix_sync();
    MAILBOX(PEER_TRISC2) = 1;
    for (u32 tile = 0; tile < 3; tile++) {
        push(TT_SEMWAIT(BLOCK_ALL, 1 << DST, SEM_WHILE_MAX));
        push(TT_SEMPOST(1 << DST));
    }
    tensix_sync();
}
#elif THREAD == 2
static volatile u32 tiles[16] = {3};

static u32 __attribute__((noinline)) scratch(u32 seed) { /* HERE */
    volatile u32 local[BUG ? 492 : 64];
    for (u32 i = 0; i < sizeof local / 4; i++) local[i] = seed;
    return local[seed & 31];
}

void kernel_main(void) {
    consume(MAILBOX(PEER_TRISC1));
    u32 sum = scratch(7);
    for (u32 tile = 0; tile < tiles[0]; tile++) {
        push(TT_SEMWAIT(BLOCK_ALL, 1 << DST, SEM_WHILE_ZERO));
        push(TT_SEMGET(1 << DST));
    }
    tensix_sync();
    REG32(0x30000) = sum;
}
#else
void kernel_main(void) {}
#endif
