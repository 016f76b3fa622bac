/* A17 print-of-math: Math prints more than the host drains; it waits for the read position of its buffer in a function, without
 * a waypoint.
 * Seen in: tt-metal #48049.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

#define PRINT_WRITTEN REG32(0x60 + 0x670)
#define PRINT_READ    REG32(0x60 + 0x674)
enum { ROOM = 6 };

#if THREAD == 1
static u32 __attribute__((noinline)) room(void) { return ROOM - (PRINT_WRITTEN - PRINT_READ); }

static void print(u32 words) {
    for (u32 i = 0; i < words; i++) {
        while (room() == 0) fence();
        PRINT_WRITTEN = PRINT_WRITTEN + 1;
    }
}

void kernel_main(void) {
    for (u32 line = 0; line < 3; line++) print(BUG ? 3 : 2); /* HERE */
}
#else
void kernel_main(void) {}
#endif
