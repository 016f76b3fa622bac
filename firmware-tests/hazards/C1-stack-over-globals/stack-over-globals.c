/* C1 stack-over-globals: A local array that is larger than the stack of a TRISC: its lower end lies on the globals of the
 * kernel, which change under its feet, although no address leaves the local memory.
 * Seen in: tt-metal #15440, #19370.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

#if THREAD == 1
static volatile u32 table[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

static u32 __attribute__((noinline)) work(u32 seed) { /* HERE */
    volatile u32 local[BUG ? 492 : 64];
    for (u32 i = 0; i < sizeof local / 4; i++) local[i] = seed;
    return local[seed & 31];
}

void kernel_main(void) {
    u32 sum = work(7);
    for (u32 i = 0; i < 16; i++) sum += table[i];
    REG32(0x30000) = sum;
}
#else
void kernel_main(void) {}
#endif
