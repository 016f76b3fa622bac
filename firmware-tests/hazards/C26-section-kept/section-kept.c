/* C26 dst-section-lost: Pack fills a buffer for unpack, and takes what math makes of it, a block at a time. In one block it does not
 * give the sections of Dst back: math waits for the next one, unpack for math, and pack for room in the buffer.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "compute.h"
#include "hazard.h"

enum { BETWEEN = 24, PAGES = 6, BLOCKS = 3, BLOCK_OF_ROWS = 16, AT = 0x20000, OUT = 0x30000 };

#if THREAD == 0
void kernel_main(void) {
    unpack_setup(256, 0);
    for (u32 block = 0; block < BLOCKS; block++) {
        cb_wait_front(BETWEEN, PAGES);
        for (u32 page = 0; page < PAGES; page++) unpack(page % 2, AT + FACE_BYTES * page, 0);
        tensix_sync();
        cb_pop_front(BETWEEN, PAGES);
    }
}
#elif THREAD == 1
void kernel_main(void) {
    math_setup();
    push(TT_SFPLOADI_BF16(0, 0x3F80));
    MAILBOX(PEER_TRISC2) = 1;
    u32 half = 0;
    for (u32 block = 0; block < BLOCKS; block++) {
        for (u32 page = 0; page < PAGES; page++, half ^= 1) {
            math_begin(half);
            push(TT_ZEROACC_16(half * HALF_ROWS / BLOCK_OF_ROWS));
            push(TT_SFPSTORE(0, SFP_BF16, 0));
            math_end();
        }
        for (u32 page = 0; page < PAGES; page++, half ^= 1) {
            math_begin(half);
            push(TT_MOVA2D_8(0, 0, KEEP));
            push(TT_MOVA2D_8(8, 8, KEEP));
            push(TT_CLEARDVALID(1));
            math_end();
        }
    }
    tensix_sync();
}
#else
void kernel_main(void) {
    pack_setup();
    consume(MAILBOX(PEER_TRISC1));
    u32 half = 0;
    for (u32 block = 0; block < BLOCKS; block++) {
        for (u32 page = 0; page < PAGES; page++, half ^= 1) {
            cb_reserve_back(BETWEEN, 1, PAGES);
            pack_begin(half, AT + FACE_BYTES * page);
            pack_rows(0, 4);
            pack_end();
            tensix_sync();
            cb_push_back(BETWEEN, 1);
        }
        for (u32 page = 0; page < PAGES; page++, half ^= 1) {
            pack_begin(half, OUT + FACE_BYTES * (block * PAGES + page));
            pack_rows(0, 4);
            if (!BUG || block != 1) pack_end(); /* MISSING HERE */
        }
    }
    tensix_sync();
}
#endif
