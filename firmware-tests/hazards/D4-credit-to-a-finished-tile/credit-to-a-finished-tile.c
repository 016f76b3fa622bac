/* D4 credit-to-a-finished-tile: tile (0, 0) sends a block, raises the count of tile (1, 0) and waits for its answer, once more
 * than tile (1, 0) takes blocks: it has finished.
 * Seen in: tt-metal #10571 (counts of the two sides differ).
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "tiles.h"

enum { BLOCKS = 4 };
#define BLOCK 0x30000

#ifdef ROLE_BRISC
/* Arguments: the receiver, its count, the count of answers here. */
void kernel_main(void) {
    for (u32 i = 0; i < BLOCKS + BUG; i++) {
        WORD(BLOCK) = i;
        fence();
        send(0, arg(0), BLOCK, BLOCK, 16);
        raise(0, arg(0), arg(1), 1);
        await(arg(2), i + 1); /* HERE */
    }
}
#else
/* Arguments: the sender, the count here, the count of answers there. */
void kernel_main(void) {
    for (u32 i = 0; i < BLOCKS; i++) {
        await(arg(1), i + 1);
        raise(1, arg(0), arg(2), 1);
    }
}
#endif
