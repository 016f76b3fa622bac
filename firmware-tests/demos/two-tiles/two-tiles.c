/* Two tiles: the first takes a block from DRAM, adds one to each word and hands it on; the second doubles each word and puts
 * the block into another channel. A semaphore on the second tile says that the block is there. */
#include "tiles.h"

enum { WORDS = 16 };
#define BLOCK 0x30000

#ifdef ROLE_BRISC
/* Arguments: channel and address of the input, column and row of the other tile, its semaphore. */
void kernel_main(void) {
    u32 other = TILE(arg(2), arg(3));
    fetch(0, arg(0), arg(1), BLOCK, 4 * WORDS);
    for (u32 i = 0; i < WORDS; i++) WORD(BLOCK + 4 * i) += 1;
    fence();
    send(0, other, BLOCK, BLOCK, 4 * WORDS);
    raise(0, other, arg(4), 1);
}
#else
/* Arguments: channel and address of the output, the semaphore. */
void kernel_main(void) {
    await(arg(2), 1);
    for (u32 i = 0; i < WORDS; i++) WORD(BLOCK + 4 * i) *= 2;
    fence();
    send(1, arg(0), BLOCK, arg(1), 4 * WORDS);
}
#endif
