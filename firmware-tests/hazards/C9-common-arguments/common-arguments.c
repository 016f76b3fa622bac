/* C9 common-arguments: Unpack walks the common arguments to a count that came from somewhere else: two more than the host has
 * set.
 * Seen in: watcher codes 8 and 9.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

#if THREAD == 0
void kernel_main(void) {
    u32 sum = 0, count = arg(0);
    const volatile u32 *at = crta_l1_base;
    while (count--) sum += *at++; /* HERE */
    REG32(0x30000) = sum;
}
#else
void kernel_main(void) {}
#endif
