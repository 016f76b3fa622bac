/* A15 overshot-by-two-tiles: tile (0, 0) waits until a count is exactly 4; two tiles raise it by 3 each.
 * Seen in: tt-metal #51036, #51037.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "tiles.h"

#ifdef ROLE_BRISC
/* Argument: the semaphore. */
void kernel_main(void) {
    while (WORD(arg(0)) != 4) fence(); /* HERE */
}
#else
/* Arguments: the collector, its semaphore. */
void kernel_main(void) {
    raise(1, arg(0), arg(1), BUG ? 3 : 2);
}
#endif
