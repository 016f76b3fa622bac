/* D4 chain-of-ten: ten tiles in a row pass a token on, from the right to the left, three times; the last one ends after the
 * first. Nine wait, each for the one on its right; the cause is the tenth.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "tiles.h"

enum { ROUNDS = 3 };

/* Arguments: place in the row, tiles of the row, the tile on the left, the semaphore of the token. */
void kernel_main(void) {
    u32 index = arg(0), is_last = index == arg(1) - 1;
    for (u32 round = 0; round < ROUNDS; round++) {
        if (BUG && is_last && round != 0) return;
        if (!is_last) await(arg(3), round + 1);
        if (index != 0) raise(0, arg(2), arg(3), 1); /* HERE */
    }
}
