/* A15 slot-not-freed: BRISC raises a flag for each page and waits for NCRISC to have taken it down to 0. NCRISC does not for
 * an empty page: it takes that for the end.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

#define FULL ((volatile u32 *)0x30020)
#define PAGE ((volatile u32 *)0x30030)
#define SUM ((volatile u32 *)0x30040)
enum { ROUNDS = 4 };

static void wait(volatile u32 *flag, u32 value) {
    do {
        fence();
    } while (*flag != value);
}

#ifdef ROLE_BRISC
void kernel_main(void) {
    for (u32 round = 0; round < ROUNDS; round++) {
        *PAGE = round == 2 ? 0 : round + 1;
        *FULL = 1; /* HERE */
        wait(FULL, 0);
    }
}
#else
void kernel_main(void) {
    u32 sum = 0;
    for (u32 round = 0; round < ROUNDS; round++) {
        wait(FULL, 1);
        u32 page = *PAGE;
        sum += page;
        if (BUG && page == 0) break; /* MISSING HERE */
        *FULL = 0;
    }
    *SUM = sum;
}
#endif
