/* A1 writer-starved: Pack hands pages to the writer by a Tensix store of the count, as vendor kernels do; in its sixth round
 * the path that skips a tile forgets the push, and the writer on NCRISC waits for ever for the last page.
 * Seen in: tt-metal #21373.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { OUT = 16, TILES = 8 };

#ifdef ROLE_NCRISC
static u32 __attribute__((noinline)) received(u32 cb) { return STREAM_TILES_RECEIVED(cb) & 0xFFFF; }

static void wait_front(u32 cb, u32 acked, u32 pages) {
    u32 there;
    do {
        fence();
        there = (received(cb) - acked) & 0xFFFF;
    } while (there < pages);
}

void kernel_main(void) {
    u32 acked = 0;
    for (u32 page = 0; page < TILES; page++) {
        wait_front(OUT, acked, 1);
        STREAM_TILES_ACKED(OUT) = ++acked;
    }
}
#elif THREAD == 2
/* GPR 24 holds the count that the packer's thread stores once packing is over. */
static void push_back(u32 count) {
    push(TT_SETDMAREG(48, count));
    push(TT_SETDMAREG(49, 0));
    push(TT_STALLWAIT(BLOCK_THCON, WAIT_PACK));
    push(TT_STOREREG(24, (u32)&STREAM_TILES_RECEIVED(OUT)));
}

void kernel_main(void) {
    u32 count = 0;
    for (u32 tile = 0; tile < TILES; tile++) {
        u32 skipped = tile == 5;
        if (!skipped) spend(40);
        if (BUG && skipped) continue; /* MISSING HERE */
        push_back(++count);
    }
    tensix_sync();
}
#else
void kernel_main(void) {}
#endif
