/* A15 reset-races: BRISC takes its semaphore down to 0 for the next round after NCRISC has already raised it: it waits for an
 * increment that it has wiped out.
 * Seen in: tt-metal #51037.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

#define READY ((volatile u32 *)0x30020)
#define ROUND ((volatile u32 *)0x30030)
enum { ROUNDS = 4 };

#ifdef ROLE_BRISC
static void wait(volatile u32 *semaphore, u32 value) {
    do {
        fence();
    } while (*semaphore != value);
}

void kernel_main(void) {
    for (u32 round = 0; round < ROUNDS; round++) {
        u32 late = BUG && round == 2;
        if (!late) *READY = 0;
        *ROUND = round + 1;
        if (late) {
            spend(100);
            *READY = 0; /* HERE */
        }
        wait(READY, 1);
    }
}
#else
void kernel_main(void) {
    for (u32 round = 0; round < ROUNDS; round++) {
        while (*ROUND != round + 1) fence();
        amoadd(READY, 1);
    }
}
#endif
