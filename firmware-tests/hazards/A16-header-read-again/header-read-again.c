/* A16 header-read-again: The data cache of NCRISC is on. It has read the header of a page, and reads the next one's from the same
 * line once BRISC has pushed it, without a fence between.
 * Seen in: tt-metal #51038.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { HEADERS = 0x31000, CB = 3, PAGES = 3, DATA_CACHE_OFF = 1 << 3 };

#ifdef ROLE_BRISC
void kernel_main(void) {
    for (u32 page = 0; page < PAGES; page++) {
        spend(100);
        REG32(HEADERS + 4 * page) = 0x100 + page;
        STREAM_TILES_RECEIVED(CB) = page + 1;
    }
}
#else
void kernel_main(void) {
    csr_clear_cfg0(DATA_CACHE_OFF);
    for (u32 page = 0; page < PAGES; page++) {
        while (STREAM_TILES_RECEIVED(CB) <= page) {}
        if (!BUG) fence();
        consume(REG32(HEADERS + 4 * page)); /* HERE */
    }
    csr_set_cfg0(DATA_CACHE_OFF);
    STREAM_TILES_RECEIVED(CB) = 0;
}
#endif
