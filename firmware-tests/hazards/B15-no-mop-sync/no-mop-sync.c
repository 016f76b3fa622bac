/* B15 no-mop-sync: Math sets the MOP expander up for its second loop while the first one is being expanded.
 * Seen in: tt-metal #55501.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "compute.h"

enum { LOOPS = 2, ROUNDS = 40 };

static inline void set_up(u32 loop) {
    MOP_CFG_WORD(0) = 1;
    MOP_CFG_WORD(1) = ROUNDS;
    for (u32 i = 2; i < 9; i++) MOP_CFG_WORD(i) = TT_NOP; /* HERE */
    MOP_CFG_WORD(5) = TT_SFPLOADI_BF16(loop, 0x3F80);
}

#if THREAD == 1
void kernel_main(void) {
    math_setup();
    for (u32 loop = 0; loop < LOOPS; loop++) {
        if (!BUG) {
            MOP_EXPANDER_DONE_CHECK = 0;
            consume(MOP_EXPANDER_DONE_CHECK);
        }
        set_up(loop);
        push(TT_MOP1);
    }
    tensix_sync();
}
#else
void kernel_main(void) {}
#endif
