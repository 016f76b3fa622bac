/* C4 l1-overlap: CB 1 begins before CB 0 ends.
 * Seen in: tt-metal #15337, #19360.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

void kernel_main(void) {}
