/* One buffer serves as input and output of a stage: NCRISC reads pages of CB 0 and writes its results to the same place, and
 * BRISC, which has been given the room too early, writes the next page over them. Seen in: tt-metal #20880. */
#include "hazard.h"

enum { CB = 0, PAGE = 0x20000, RESULT = 0x30000, WORDS = 16 };

#ifdef ROLE_BRISC
void kernel_main(void) {
    for (u32 page = 0; page < 2; page++) {
        cb_reserve_back(CB, 1, 1);
        for (u32 i = 0; i < WORDS; i++) REG32(PAGE + 4 * i) = 100 * (page + 1);
        cb_push_back(CB, 1);
    }
}
#else
void kernel_main(void) {
    cb_wait_front(CB, 1);
    cb_pop_front(CB, 1); /* the room is given back before the page has been used */
    for (u32 i = 0; i < WORDS; i++) REG32(PAGE + 4 * i) = REG32(PAGE + 4 * i) + 1;
    u32 sum = 0;
    for (u32 i = 0; i < WORDS; i++) sum += REG32(PAGE + 4 * i);
    REG32(RESULT) = sum;
    cb_wait_front(CB, 1);
    cb_pop_front(CB, 1);
}
#endif
