/* B10 header-of-another-tile: A tile asks another one for a block and looks at the block's header at once, to know how many rows it
 * has: what it finds is the header of the block before.
 * Seen in: tt-metal #50308.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "tiles.h"

enum { BYTES = 512, ROUNDS = 3 };
#define BLOCK arg(2)

#ifdef ROLE_BRISC
/* Arguments: the other tile, the count here of blocks that it has ready, where a block lies in either. */
void kernel_main(void) {
    u32 home = NIU_REG(0, NOC_ID_LOGICAL) & 0xFFF;
    WORD(BLOCK) = 0;
    for (u32 round = 0; round < ROUNDS; round++) {
        await(arg(1), round + 1);
        u32 before = NIU_REG(0, NIU_MST_RD_RESP_RECEIVED);
        noc_request(0, READER, NOC_CMD_RD | NOC_CMD_STATIC_VC(1), arg(0), BLOCK, BLOCK, home, BYTES);
        NIU_CMD(0, READER, NOC_CMD_CTRL) = 1;
        if (BUG) consume(WORD(BLOCK)); /* HERE */
        while (NIU_REG(0, NIU_MST_RD_RESP_RECEIVED) == before) {}
        fence();
        consume(WORD(BLOCK));
    }
}
#else
/* Arguments: the reading tile, its count, where a block lies. */
void kernel_main(void) {
    for (u32 i = 0; i < BYTES / 4; i++) WORD(BLOCK + 4 * i) = i;
    fence();
    for (u32 round = 0; round < ROUNDS; round++) {
        WORD(BLOCK) = round;
        raise(1, arg(0), arg(1), 1);
    }
}
#endif
