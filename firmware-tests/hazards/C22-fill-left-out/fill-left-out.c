/* C22 cb-page-not-filled: The reader pushes pages in which it has put nothing; the writer sends what lies there since before.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "noc.h"
#include "hazard.h"

enum { CB = 0, BASE = 0x20000, PAGE = 0x400, ROOM = 2, TOTAL = 5, FROM = 0x30000, OUT = 0x34000 };

#ifdef ROLE_NCRISC
void kernel_main(void) {
    u32 reads = NIU_REG(0, NIU_MST_RD_RESP_RECEIVED);
    for (u32 i = 0; i < PAGE / 4; i++) REG32(FROM + 4 * i) = i;
    for (u32 page = 0; page < TOTAL; page++) {
        cb_reserve_back(CB, 1, ROOM);
        if (!BUG) {
            noc_copy(0, 1, NOC_CMD_RD | NOC_CMD_RESP_MARKED, FROM, BASE + PAGE * (page % ROOM), PAGE);
            noc_await(0, NIU_MST_RD_RESP_RECEIVED, reads + page + 1);
        }
        cb_push_back(CB, 1); /* HERE */
    }
}
#else
void kernel_main(void) {
    u32 acks = NIU_REG(0, NIU_MST_WR_ACK_RECEIVED);
    for (u32 page = 0; page < TOTAL; page++) {
        cb_wait_front(CB, 1);
        noc_copy(0, 0, NOC_CMD_WR | NOC_CMD_RESP_MARKED, BASE + PAGE * (page % ROOM), OUT + PAGE * page, PAGE);
        noc_await(0, NIU_MST_WR_ACK_RECEIVED, acks + page + 1);
        cb_pop_front(CB, 1);
    }
}
#endif
