/* A12 go-overwritten: BRISC clears what it takes for its own flag: the sync byte of NCRISC, which has not looked yet. NCRISC
 * waits for GO and BRISC for NCRISC.
 * Seen in: tt-metal #12666.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

#ifdef ROLE_BRISC
void kernel_main(void) {
    spend(300); /* NCRISC has reported done */
    volatile u8 *flag = BUG ? &MAILBOXES->sync.dm1 : (volatile u8 *)0x30000;
    *flag = SYNC_LOAD; /* HERE */
}
#else
void kernel_main(void) {}
#endif
