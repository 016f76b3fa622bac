/* A16 poll-of-a-flag: The data cache of BRISC is on, and it polls a flag without a fence: it has the flag's line, and would see
 * what NCRISC writes only if something else emptied its cache.
 * Seen in: tt-metal #22058, #50310.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { FLAG = 0x30000, DATA_CACHE_OFF = 1 << 3 };

#ifdef ROLE_BRISC
void kernel_main(void) {
    spend(100);
    csr_clear_cfg0(DATA_CACHE_OFF);
    while (REG32(FLAG) == 0) { /* HERE */
        if (!BUG) fence();
    }
    csr_set_cfg0(DATA_CACHE_OFF);
    REG32(FLAG) = 0;
}
#else
void kernel_main(void) {
    REG32(FLAG) = 0;
    spend(400);
    REG32(FLAG) = 1;
}
#endif
