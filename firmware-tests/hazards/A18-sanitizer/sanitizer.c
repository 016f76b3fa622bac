/* A18 sanitizer: The NoC sanitizer of BRISC finds a bad address: it writes its record and stops in a loop.
 * Seen in: tt-metal watcher.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

#define WAYPOINT_BRISC REG32(0x60 + 0x4D4)

static void __attribute__((noinline)) sanitize(u32 address) {
    if (address < 0x180000) return;
    WAYPOINT_BRISC = 'N' | 'A' << 8 | 'W' << 16;
    for (;;) fence();
}

void kernel_main(void) {
    for (u32 i = 0; i < 4; i++) sanitize(0x20000 + (BUG ? 0x80000 : 0x8000) * i); /* HERE */
}
