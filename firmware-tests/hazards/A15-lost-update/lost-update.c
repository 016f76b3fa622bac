/* A15 lost-update: TRISC1 and NCRISC count into the same word with a load, an addition and a store; one of the additions is
 * lost, and BRISC waits for the full count in a function.
 * Seen in: tt-metal #13288.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

#define COUNT ((volatile u32 *)0x30010)
enum { EACH = 4 };

#ifdef ROLE_BRISC
static u32 __attribute__((noinline)) count(void) {
    fence();
    return *COUNT;
}

void kernel_main(void) {
    while (count() != 2 * EACH) {}
}
#elif defined(ROLE_NCRISC) || THREAD == 1
void kernel_main(void) {
    for (u32 i = 0; i < EACH; i++) {
        if (BUG) {
            u32 old = *COUNT;
            spend(10);
            *COUNT = old + 1; /* HERE */
        } else {
            amoadd(COUNT, 1);
        }
        fence();
    }
}
#else
void kernel_main(void) {}
#endif
