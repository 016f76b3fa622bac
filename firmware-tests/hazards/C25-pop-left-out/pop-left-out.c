/* C25 cb-pages-left: The writer sends page after page and pops none, so that it sends the first one each time. All pages fit into the
 * buffer: nobody waits for room.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "noc.h"
#include "hazard.h"

enum { CB = 0, BASE = 0x20000, PAGE = 0x400, ROOM = 8, TOTAL = 4, OUT = 0x34000 };

#ifdef ROLE_NCRISC
void kernel_main(void) {
    cb_reserve_back(CB, TOTAL, ROOM);
    for (u32 at = 0; at < PAGE * TOTAL; at += 4) REG32(BASE + at) = at;
    cb_push_back(CB, TOTAL);
}
#else
void kernel_main(void) {
    u32 acks = NIU_REG(0, NIU_MST_WR_ACK_RECEIVED), from = BASE;
    for (u32 page = 0; page < TOTAL; page++) {
        cb_wait_front(CB, 1);
        noc_copy(0, 0, NOC_CMD_WR | NOC_CMD_RESP_MARKED, from, OUT + PAGE * page, PAGE); /* HERE */
        noc_await(0, NIU_MST_WR_ACK_RECEIVED, acks + page + 1);
        if (!BUG) {
            cb_pop_front(CB, 1);
            from += PAGE;
        }
    }
}
#endif
