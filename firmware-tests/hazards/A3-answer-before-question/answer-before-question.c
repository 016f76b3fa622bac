/* A3 answer-before-question: BRISC waits for the first answer before it asks: the order of two lines.
 * Seen in: tt-metal #10571.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { ASK = 0, ANSWER = 1, ROOM = 2, COUNT = 3 };

#ifdef ROLE_BRISC
static void __attribute__((noinline)) ask(void) {
    cb_reserve_back(ASK, 1, ROOM);
    cb_push_back(ASK, 1);
}

static void __attribute__((noinline)) hear(void) {
    cb_wait_front(ANSWER, 1);
    cb_pop_front(ANSWER, 1);
}

void kernel_main(void) {
    for (u32 i = 0; i < arg(0); i++) {
        if (BUG && i == 2) hear(); /* HERE */
        ask();
        if (!BUG || i != 2) hear();
    }
}
#elif THREAD == 0
void kernel_main(void) {
    for (u32 i = 0; i < arg(0); i++) {
        cb_wait_front(ASK, 1);
        cb_pop_front(ASK, 1);
        cb_reserve_back(ANSWER, 1, ROOM);
        cb_push_back(ANSWER, 1);
    }
}
#else
void kernel_main(void) {}
#endif
