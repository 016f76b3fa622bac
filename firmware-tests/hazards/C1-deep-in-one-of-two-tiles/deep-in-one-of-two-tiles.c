/* C1 deep-in-one-of-two-tiles: One of two tiles keeps a table on the stack that does not fit above its globals.
 * Seen in: tt-metal #15066, #19370.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "tiles.h"

enum { WORDS = BUG ? 1400 : 64 };
static volatile u32 totals[64] = {1, 2, 3};

#ifdef ROLE_BRISC
/* Arguments: the other tile, and the count here that it raises. */
__attribute__((noinline)) static u32 table(u32 seed) { /* HERE */
    volatile u32 rows[WORDS];
    for (u32 i = WORDS - 8; i < WORDS; i++) rows[i] = seed + i;
    return rows[WORDS - 1];
}
void kernel_main(void) {
    await(arg(1), 1);
    totals[1] = table(totals[0]);
}
#else
/* Arguments: the waiting tile, and its count. */
void kernel_main(void) {
    raise(1, arg(0), arg(1), 1);
}
#endif
