/* D2 rectangle-one-short: tile (0, 0) multicasts a block and a flag to the tiles beside it; the last column is computed one too
 * low, and the last of the three waits for ever. So does the sender, for its count.
 * Seen in: tt-metal #33715.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "tiles.h"

#define BLOCK 0x30000
#define FLAG 0x31000

#ifdef ROLE_BRISC
/* Arguments: column and row of the first receiver, how many there are, the semaphore that they raise here. */
void kernel_main(void) {
    u32 x = arg(0), y = arg(1), receivers = arg(2);
    u32 last = x + receivers - (BUG ? 2 : 1), there = last - x + 1;
    u32 rectangle = TILE(x, y) << 12 | TILE(last, y);
    for (u32 i = 0; i < 16; i++) WORD(BLOCK + 4 * i) = i;
    WORD(FLAG) = 1;
    fence();
    multicast(0, rectangle, there, 0, BLOCK, BLOCK, 64);
    multicast(0, rectangle, there, 0, FLAG, FLAG, 16); /* HERE */
    await(arg(3), receivers);
}
#else
/* Arguments: the sender and its semaphore. */
void kernel_main(void) {
    await(FLAG, 1);
    raise(1, arg(0), arg(1), 1);
}
#endif
