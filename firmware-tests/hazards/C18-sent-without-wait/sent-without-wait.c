/* C18 cb-page-without-data: The writer sends a page before it waits for it: what it sends is what lay there before.
 * Seen in: tt-metal #43435.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "noc.h"
#include "hazard.h"

enum { CB = 16, BASE = 0x20000, PAGE = 0x400, ROOM = 2, TOTAL = 4, OUT = 0x34000 };

#ifdef ROLE_NCRISC
void kernel_main(void) {
    for (u32 i = 0; i < PAGE / 4 * ROOM; i++) REG32(BASE + 4 * i) = 0;
    for (u32 page = 0; page < TOTAL; page++) {
        cb_reserve_back(CB, 1, ROOM);
        spend(2000);
        for (u32 i = 0; i < PAGE / 4; i++) REG32(BASE + PAGE * (page % ROOM) + 4 * i) = page + i;
        cb_push_back(CB, 1);
    }
}
#else
void kernel_main(void) {
    spend(1500); /* the producer clears all pages */
    u32 acks = NIU_REG(0, NIU_MST_WR_ACK_RECEIVED);
    for (u32 page = 0; page < TOTAL; page++) {
        if (!BUG) cb_wait_front(CB, 1); /* MISSING HERE */
        noc_copy(0, 0, NOC_CMD_WR | NOC_CMD_RESP_MARKED, BASE + PAGE * (page % ROOM), OUT + PAGE * page, PAGE); /* HERE */
        noc_await(0, NIU_MST_WR_ACK_RECEIVED, acks + page + 1);
        cb_wait_front(CB, 1);
        cb_pop_front(CB, 1);
    }
}
#endif
