/* D5 chain-to-nobody: a request goes along a row of tiles, and an answer comes back. The last tile is not launched, so that
 * nobody takes the request; nine wait for an answer, each from the one on its right.
 * The kernel is the same in both: the plan names too few tiles. */
#include "tiles.h"

/* Arguments: place in the row, tiles of the row, the tiles on the left and on the right, the semaphores of request and answer. */
void kernel_main(void) {
    u32 index = arg(0), is_last = index == arg(1) - 1;
    if (index != 0) await(arg(4), 1);
    if (!is_last) {
        raise(0, arg(3), arg(4), 1); /* HERE */
        await(arg(5), 1);
    }
    if (index != 0) raise(0, arg(2), arg(5), 1);
}
