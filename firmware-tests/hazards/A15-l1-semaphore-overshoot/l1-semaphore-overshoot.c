/* A15 l1-semaphore-overshoot: BRISC waits for a count to be exactly 2; NCRISC raises it from 1 to 3 at once.
 * Seen in: tt-metal #51036, #51037.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

#define COUNT ((volatile u32 *)0x30000)

#ifdef ROLE_BRISC
void kernel_main(void) {
    while (*COUNT != 2) fence();
}
#else
void kernel_main(void) {
    spend(100);
    amoadd(COUNT, 1);
    amoadd(COUNT, BUG ? 2 : 1); /* HERE */
}
#endif
