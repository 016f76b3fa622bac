/* C12 ebreak-without-nops: NCRISC stops at an ebreak that is not followed by eight NOPs.
 * Seen in: tt-exalens #1069.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

void kernel_main(void) {
    if (arg(0) != 0) __asm__ volatile("ebreak"); /* HERE */
    REG32(0x30000) = 1;
}
