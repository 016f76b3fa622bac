/* C28 cb-page-not-read: The writer waits for each page and pops it, and sends nothing of it.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "noc.h"
#include "hazard.h"

enum { CB = 0, BASE = 0x20000, PAGE = 0x400, ROOM = 2, TOTAL = 5, OUT = 0x34000 };

#ifdef ROLE_NCRISC
void kernel_main(void) {
    for (u32 page = 0; page < TOTAL; page++) {
        cb_reserve_back(CB, 1, ROOM);
        for (u32 at = 0; at < PAGE; at += 4) REG32(BASE + PAGE * (page % ROOM) + at) = page;
        cb_push_back(CB, 1);
    }
}
#else
void kernel_main(void) {
    u32 acks = NIU_REG(0, NIU_MST_WR_ACK_RECEIVED);
    for (u32 page = 0; page < TOTAL; page++) {
        cb_wait_front(CB, 1);
        if (!BUG) {
            noc_copy(0, 0, NOC_CMD_WR | NOC_CMD_RESP_MARKED, BASE + PAGE * (page % ROOM), OUT + PAGE * page, PAGE);
            noc_await(0, NIU_MST_WR_ACK_RECEIVED, acks + page + 1);
        }
        cb_pop_front(CB, 1); /* HERE */
    }
}
#endif
