/* D7 ring-and-a-count: four tiles hand pages round; who has handed on all of his reports to tile (0, 0), which waits for all. One
 * tile leaves out the credit for the tile before it in one round: both hang, and tile (0, 0) behind them.
 * Seen in: all-gather rings with a barrier at their end.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "tiles.h"

enum { TILES = 4, PAGE = 0x20000 };

/* Arguments: which one this is, the next, the one before, the first, and the three semaphores. */
void kernel_main(void) {
    u32 me = arg(0), next = arg(1), before = arg(2), first = arg(3);
    u32 full = arg(4), freed = arg(5), done = arg(6);
    for (u32 round = 0; round < TILES - 1; round++) {
        while (WORD(freed) < round) fence();
        raise(1, next, full, 1);
        while (WORD(full) < round + 1) fence();
        if (!BUG || me != 3 || round != 1) raise(1, before, freed, 1); /* HERE */
    }
    if (me) {
        raise(1, first, done, 1);
        return;
    }
    while (WORD(done) != TILES - 1) fence();
}
