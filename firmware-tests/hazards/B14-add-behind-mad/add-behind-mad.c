/* B14 add-behind-mad: An integer is added to the result of SFPMAD in the next instruction, for which the stall logic does not wait.
 * Seen in: tt-llk #881, tt-metal #14591.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "compute.h"

#define TT_SFPIADD(d, c, mode) TT_WORD(0x79, (c) << 8 | (d) << 4 | (mode))
enum { SUM = 3, NO_FLAGS = 4 };

#if THREAD == 1
void kernel_main(void) {
    math_setup();
    push(TT_SFPENCC_ALL);
    push(TT_SFPLOADI_BF16(0, 0x3F80));
    push(TT_SFPLOADI_BF16(1, 0x4000));
    push(TT_SFPMAD(SUM, 0, 1, 1));
    if (!BUG) push(TT_SFPNOP); /* MISSING HERE */
    push(TT_SFPIADD(SUM, 1, NO_FLAGS));
    push(TT_SFPSTORE(SUM, SFP_BF16, 0));
    tensix_sync();
}
#else
void kernel_main(void) {}
#endif
