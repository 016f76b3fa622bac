/* C1 stack-overflow: A recursion with a large frame leaves the 8 KiB of NCRISC.
 * Seen in: tt-metal #15066, #11317, #55523.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

static u32 __attribute__((noinline)) descend(u32 depth) {
    volatile u32 frame[64];
    for (u32 i = 0; i < 64; i++) frame[i] = depth + i;
    u32 below = depth == 0 ? 0 : descend(depth - 1); /* HERE */
    return below + frame[depth & 63];
}

void kernel_main(void) { REG32(0x30000) = descend(arg(0)); }
