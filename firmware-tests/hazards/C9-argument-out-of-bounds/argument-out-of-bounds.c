/* C9 argument-out-of-bounds: The kernel reads one runtime argument more than the host has set.
 * Seen in: watcher codes 8 and 9.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

void kernel_main(void) {
    u32 sum = 0;
    for (u32 i = 0; i < (BUG ? 4 : 3); i++) sum += arg(i); /* HERE */
    REG32(0x30000) = sum;
}
