/* A17 dprint-buffer-full: NCRISC prints more than the host drains: it sits in the wait of the print buffer.
 * Seen in: tt-metal #4073, #5260, #48049.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

#define WAYPOINT_NCRISC REG32(0x60 + 0x4D4 + 4)
#define PRINT_WRITTEN   REG32(0x60 + 0x670)
#define PRINT_READ      REG32(0x60 + 0x674)
enum { DPW = 'D' | 'P' << 8 | 'W' << 16, DPD = 'D' | 'P' << 8 | 'D' << 16, ROOM = 8 };

void kernel_main(void) {
    for (u32 i = 0; i < (BUG ? ROOM + 1 : ROOM); i++) { /* HERE */
        WAYPOINT_NCRISC = DPW;
        while (PRINT_WRITTEN - PRINT_READ >= ROOM) fence();
        WAYPOINT_NCRISC = DPD;
        PRINT_WRITTEN = PRINT_WRITTEN + 1;
    }
}
