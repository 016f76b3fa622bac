/* A18 soft-hang-by-tool: An assertion of NCRISC fails: it writes the assertion record and stops itself.
 * Seen in: tt-metal watcher.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

#define ASSERT_LINE    REG16(0x60 + 0x520)
#define ASSERT_TRIPPED REG8(0x60 + 0x522)
#define ASSERT_WHICH   REG8(0x60 + 0x523)

void kernel_main(void) {
    u32 tiles = arg(0);
    if (tiles > 8) { /* HERE */
        ASSERT_LINE = __LINE__;
        ASSERT_WHICH = CORE_NCRISC;
        ASSERT_TRIPPED = 3;
        for (;;) {}
    }
}
