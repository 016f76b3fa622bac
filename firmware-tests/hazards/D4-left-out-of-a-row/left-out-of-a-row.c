/* D4 left-out-of-a-row: Each tile of a row waits for its left neighbour's count and raises that of its right one; a condition that should
 * leave out the last tile leaves out one in the middle. Nobody has ever written the word that the next one waits for.
 * Seen in: tt-metal #10571 (counts of the two sides differ).
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "tiles.h"

/* Arguments: the right neighbour, the count on every tile, the place in the row, how many there are. */
void kernel_main(void) {
    u32 place = arg(2);
    if (place != 0) await(arg(1), 1);
    if (BUG ? place % 3 != 2 : place + 1 != arg(3)) raise(0, arg(0), arg(1), 1); /* HERE */
}
