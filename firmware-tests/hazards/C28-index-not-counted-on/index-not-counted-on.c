/* C28 cb-page-not-read: Compute waits for three pages at a time and unpacks the first one three times, as with a tile's index that is not
 * counted on.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "compute.h"
#include "hazard.h"

enum { CB = 0, BASE = 0x20000, PAGE = FACE_BYTES, BLOCK = 3, ROOM = 2 * BLOCK, BLOCKS = 3 };

#ifdef ROLE_NCRISC
void kernel_main(void) {
    for (u32 block = 0; block < BLOCKS; block++) {
        cb_reserve_back(CB, BLOCK, ROOM);
        u32 at = BASE + PAGE * (block * BLOCK % ROOM);
        for (u32 word = 0; word < BLOCK * PAGE / 4; word++) REG32(at + 4 * word) = 0x3F803F80;
        cb_push_back(CB, BLOCK);
    }
}
#elif THREAD == 0
void kernel_main(void) {
    unpack_setup(256, 0);
    for (u32 block = 0; block < BLOCKS; block++) {
        cb_wait_front(CB, BLOCK);
        u32 front = BASE + PAGE * (block * BLOCK % ROOM);
        for (u32 page = 0; page < BLOCK; page++) unpack(0, front + (BUG ? 0 : PAGE * page), 0); /* HERE */
        tensix_sync();
        cb_pop_front(CB, BLOCK);
    }
}
#elif THREAD == 1
void kernel_main(void) {
    for (u32 page = 0; page < BLOCKS * BLOCK; page++) {
        push(TT_STALLWAIT(BLOCK_ALL, WAIT_SRCA_VLD));
        push(TT_CLEARDVALID(1));
    }
    tensix_sync();
}
#else
void kernel_main(void) {}
#endif
