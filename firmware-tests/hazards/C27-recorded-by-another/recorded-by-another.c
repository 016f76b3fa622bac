/* C27 setting-of-another-program: A kernel plays what the launch before has recorded, which happens to be its own sequence.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "compute.h"

enum { FIRST = 4, LENGTH = 3, ROUNDS = 4 };

#if THREAD == 1
void kernel_main(void) {
    math_setup();
    push(TT_SFPLOADI_BF16(0, 0x3F80));
    if (!BUG) {
        push(TT_REPLAY(FIRST, LENGTH, 0, 1));
        push(TT_SFPSTORE(0, SFP_BF16, 0));
        push(TT_SFPLOAD(1, SFP_BF16, 0));
        push(TT_SFPSTORE(1, SFP_BF16, 4));
    }
    for (u32 round = 0; round < ROUNDS; round++) {
        push(TT_REPLAY(FIRST, LENGTH, 0, 0)); /* HERE */
    }
    tensix_sync();
}
#else
void kernel_main(void) {}
#endif
