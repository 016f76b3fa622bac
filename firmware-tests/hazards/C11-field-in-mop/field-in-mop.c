/* C11 field-in-mop: The MOP template of math holds a vector instruction whose mode nobody has defined.
 * Seen in: tt-sim #17, #18.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

#if THREAD == 1
#define TT_SFPLOADI(lreg, mode, value) TT_WORD(0x71, (lreg) << 20 | (mode) << 16 | (value))
void kernel_main(void) {
    MOP_CFG_WORD(0) = 1;
    MOP_CFG_WORD(1) = 2;
    for (u32 i = 2; i < 9; i++) MOP_CFG_WORD(i) = TT_NOP;
    MOP_CFG_WORD(5) = TT_SFPLOADI(0, BUG ? 5 : 0, 0x3F80);
    push(TT_MOP1); /* HERE */
    tensix_sync();
}
#else
void kernel_main(void) {}
#endif
