/* C18 cb-page-without-data: Compute waits for one page and unpacks the one behind it, as with a tile's index that begins at 1.
 * Seen in: tt-metal #43435.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "compute.h"
#include "hazard.h"

enum { CB = 0, BASE = 0x20000, PAGE = FACE_BYTES, ROOM = 4, TOTAL = 3 };

#ifdef ROLE_NCRISC
void kernel_main(void) {
    for (u32 i = 0; i < PAGE / 4 * ROOM; i++) REG32(BASE + 4 * i) = 0x3F803F80;
    for (u32 page = 0; page < TOTAL; page++) {
        cb_reserve_back(CB, 1, ROOM);
        spend(300);
        cb_push_back(CB, 1);
    }
}
#elif THREAD == 0
void kernel_main(void) {
    unpack_setup(256, 0);
    for (u32 page = 0; page < TOTAL; page++) {
        cb_wait_front(CB, 1);
        unpack(0, BASE + PAGE * (page + BUG), 0); /* HERE */
        tensix_sync();
        cb_pop_front(CB, 1);
    }
}
#elif THREAD == 1
void kernel_main(void) {
    for (u32 page = 0; page < TOTAL; page++) {
        push(TT_STALLWAIT(BLOCK_ALL, WAIT_SRCA_VLD));
        push(TT_CLEARDVALID(1));
    }
    tensix_sync();
}
#else
void kernel_main(void) {}
#endif
