/* C7 code-overwritten: BRISC writes its result over the end of its own code.
 * Seen in: tt-metal #20766, #23518.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

extern char _start[];

void kernel_main(void) {
    volatile u32 *result = BUG ? (volatile u32 *)_start : (volatile u32 *)0x30000;
    *result = 0x13; /* HERE */
    fence();
}
