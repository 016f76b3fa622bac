/* B10 index-before-barrier: The reader asks for a table of offsets, and takes the first one before the table is there: it copies from
 * where the offset of the round before was.
 * Seen in: tt-metal #50980.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "noc.h"
#include "hazard.h"

enum { TABLES = 0x30000, TABLE = 0x20000, ROWS = 0x31000, ROW = 0x21000, BYTES = 64, ROUNDS = 3 };

#ifdef ROLE_NCRISC
void kernel_main(void) {
    for (u32 i = 0; i < BYTES / 4 * ROUNDS; i++) REG32(TABLES + 4 * i) = i / 16 * BYTES;
    for (u32 i = 0; i < BYTES / 4 * ROUNDS; i++) REG32(ROWS + 4 * i) = i;
    for (u32 i = 0; i < BYTES / 4; i++) REG32(TABLE + 4 * i) = 0;
    fence();
    for (u32 round = 0; round < ROUNDS; round++) {
        u32 answers = NIU_REG(0, NIU_MST_RD_RESP_RECEIVED);
        noc_copy(0, 1, NOC_CMD_RD | NOC_CMD_RESP_MARKED, TABLES + BYTES * round, TABLE, BYTES);
        if (!BUG) noc_await(0, NIU_MST_RD_RESP_RECEIVED, answers + 1);
        u32 offset = REG32(TABLE); /* HERE */
        noc_copy(0, 1, NOC_CMD_RD | NOC_CMD_RESP_MARKED, ROWS + offset, ROW, BYTES);
        noc_await(0, NIU_MST_RD_RESP_RECEIVED, answers + 2);
    }
}
#else
void kernel_main(void) {}
#endif
