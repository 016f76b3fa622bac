/* D1 corners-of-noc1: tile (0, 0) multicasts a flag to the four tiles beside it over NoC 1 and has the corners in the order
 * of NoC 0: the rectangle is the one around the chip, which leaves out the tiles between its corners.
 * Seen in: tt-metal #33710 (reversed corners on NoC 1).
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "tiles.h"

enum { RECEIVERS = 4 };
#define FLAG 0x30000

#ifdef ROLE_BRISC
/* Arguments: first and last tile of the row, the semaphore that receivers raise here. */
void kernel_main(void) {
    u32 first = arg(0), last = arg(1);
    WORD(FLAG) = 1;
    fence();
    u32 count = BUG ? 1 : RECEIVERS; /* how many answer is another story */
    multicast(1, BUG ? first << 12 | last : last << 12 | first, count, 0, FLAG, FLAG, 16); /* HERE */
    await(arg(2), RECEIVERS);
}
#else
/* Arguments: the sender and its semaphore. */
void kernel_main(void) {
    await(FLAG, 1);
    raise(1, arg(0), arg(1), 1);
}
#endif
