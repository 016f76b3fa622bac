/* B10 push-before-barrier: The reader pushes each page right after it has asked for its data, and waits for all data once at its end.
 * Seen in: tt-metal #50980, #50308.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "noc.h"
#include "hazard.h"

enum { CB = 1, BASE = 0x20000, PAGE = 0x400, ROOM = 4, TOTAL = 4, DATA = 0x30000 };

#ifdef ROLE_NCRISC
void kernel_main(void) {
    for (u32 i = 0; i < PAGE / 4 * TOTAL; i++) REG32(DATA + 4 * i) = i;
    fence();
    u32 answers = NIU_REG(0, NIU_MST_RD_RESP_RECEIVED);
    for (u32 page = 0; page < TOTAL; page++) {
        cb_reserve_back(CB, 1, ROOM);
        noc_copy(0, 1, NOC_CMD_RD | NOC_CMD_RESP_MARKED, DATA + PAGE * page, BASE + PAGE * page, PAGE);
        if (!BUG) noc_await(0, NIU_MST_RD_RESP_RECEIVED, answers + page + 1); /* MISSING HERE */
        cb_push_back(CB, 1);
    }
    noc_await(0, NIU_MST_RD_RESP_RECEIVED, answers + TOTAL);
}
#elif THREAD == 0
void kernel_main(void) {
    for (u32 page = 0; page < TOTAL; page++) {
        cb_wait_front(CB, 1);
        spend(20);
        consume(REG32(BASE + PAGE * page));
        cb_pop_front(CB, 1);
    }
}
#else
void kernel_main(void) {}
#endif
