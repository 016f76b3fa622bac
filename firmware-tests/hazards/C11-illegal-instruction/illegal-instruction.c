/* C11 illegal-instruction: NCRISC runs into data behind a computed jump.
 * Seen in: ttsim UB class.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

static void __attribute__((noinline)) work(void) { REG32(0x30000) = 1; }

void kernel_main(void) {
    REG32(0x30010) = 0xFFFFFFFF;
    fence();
    void (*volatile next)(void) = BUG ? (void (*)(void))0x30010 : work;
    next(); /* HERE */
}
