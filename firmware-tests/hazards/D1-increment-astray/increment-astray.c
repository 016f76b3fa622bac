/* D1 increment-astray: tile (0, 0) sends a block to tile (2, 0) and raises its semaphore, but takes the column for the row, so
 * that the count goes to tile (1, 1), where nobody waits for it.
 * Seen in: tt-metal #6695 (mixed coordinates).
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "tiles.h"

#define BLOCK 0x30000

#ifdef ROLE_BRISC
/* Arguments: column and row of the receiver on the NoC, its semaphore. */
void kernel_main(void) {
    u32 x = arg(0), y = arg(1);
    WORD(BLOCK) = 0xB10C;
    fence();
    send(0, TILE(x, y), BLOCK, BLOCK, 16);
    raise(0, BUG ? TILE(y, x) : TILE(x, y), arg(2), 1); /* HERE */
}
#else
/* Argument: the semaphore. */
void kernel_main(void) {
    await(arg(0), 1);
    WORD(BLOCK + 16) = WORD(BLOCK);
}
#endif
