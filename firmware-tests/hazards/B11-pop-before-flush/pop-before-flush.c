/* B11 source-reused-before-flush: The writer pops each page right after it has asked for it to be sent, and waits for all of them once at its end.
 * Seen in: tt-metal #20663, #50365.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "noc.h"
#include "hazard.h"

enum { CB = 16, BASE = 0x20000, PAGE = 0x400, ROOM = 2, TOTAL = 4, OUT = 0x34000 };

#ifdef ROLE_NCRISC
void kernel_main(void) {
    for (u32 page = 0; page < TOTAL; page++) {
        cb_reserve_back(CB, 1, ROOM);
        for (u32 i = 0; i < PAGE / 4; i++) REG32(BASE + PAGE * (page % ROOM) + 4 * i) = page + i;
        fence();
        cb_push_back(CB, 1);
    }
}
#else
void kernel_main(void) {
    u32 sent = NIU_REG(0, NIU_MST_NONPOSTED_WR_REQ_SENT);
    u32 acks = NIU_REG(0, NIU_MST_WR_ACK_RECEIVED);
    for (u32 page = 0; page < TOTAL; page++) {
        cb_wait_front(CB, 1);
        noc_copy(0, 0, NOC_CMD_WR | NOC_CMD_RESP_MARKED, BASE + PAGE * (page % ROOM), OUT + PAGE * page, PAGE);
        /* The page that is popped last stays as it is: nobody fills it again before all are awaited. */
        int is_last = page + 1 == TOTAL;
        if (!BUG && !is_last) noc_await(0, NIU_MST_NONPOSTED_WR_REQ_SENT, sent + page + 1); /* MISSING HERE */
        cb_pop_front(CB, 1);
    }
    noc_await(0, NIU_MST_WR_ACK_RECEIVED, acks + TOTAL);
}
#endif
