/* C1 recursion-on-trisc: A recursion of pack that has no end leaves the 4 KiB of TRISC2.
 * Seen in: tt-metal #588, #55523.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

#if THREAD == 2
static u32 __attribute__((noinline)) halve(u32 value, u32 depth) {
    volatile u32 keep[4] = {value, depth, value, depth};
    if (value <= 1) return keep[1];
    return halve(value - (BUG ? 0 : value / 2), depth + 1) + keep[0]; /* HERE */
}

void kernel_main(void) { REG32(0x30000) = halve(512, 0); }
#else
void kernel_main(void) {}
#endif
