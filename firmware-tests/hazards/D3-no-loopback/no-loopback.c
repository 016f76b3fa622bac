/* D3 no-loopback: tile (0, 0) multicasts a flag to three tiles of which it is one, and waits for the flag like the others; a
 * multicast leaves out its sender unless told otherwise.
 * Seen in: tt-metal #33805.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "tiles.h"

#define VALID 0x30000
#define FLAG 0x31000

static void wait_for_flag(void) {
    await(FLAG, 1);
}

#ifdef ROLE_BRISC
/* Argument: the rectangle of all three. */
void kernel_main(void) {
    WORD(VALID) = 1;
    fence();
    multicast(0, arg(0), BUG ? 2 : 3, BUG ? 0 : NOC_CMD_BRCST_SRC_INCLUDE, VALID, FLAG, 16); /* HERE */
    wait_for_flag();
}
#else
void kernel_main(void) {
    wait_for_flag();
}
#endif
