/* C8 firmware-overwritten: A null pointer: NCRISC stores to L1[0], where the jump to the firmware lies.
 * Seen in: tt-metal watcher.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

void kernel_main(void) {
    volatile u32 *result = (volatile u32 *)arg(0);
    u32 word = *result;
    fence();
    *result = word; /* HERE */
}
