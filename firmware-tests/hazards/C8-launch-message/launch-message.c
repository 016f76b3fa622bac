/* C8 launch-message: TRISC1 stores a result through a pointer that is off by a page: it hits the launch message.
 * Seen in: tt-metal watcher.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

#if THREAD == 1
static void __attribute__((noinline)) store(u32 base, u32 index, u32 value) { REG32(base + 4 * index) = value; }

void kernel_main(void) {
    for (u32 i = 0; i < 4; i++) store(0x30000, i, i);
    if (BUG) store(0x100, 0, 0x12345678); /* HERE */
}
#else
void kernel_main(void) {}
#endif
