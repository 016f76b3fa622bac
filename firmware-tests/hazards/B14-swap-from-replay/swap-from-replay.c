/* B14 swap-from-replay: A recorded sequence ends with SFPMUL, and the next one begins with a SFPSWAP that compares its result.
 * Seen in: tt-llk #881.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "compute.h"

#define TT_SFPSWAP(d, c, mode) TT_WORD(0x92, (c) << 8 | (d) << 4 | (mode))
#define TT_SFPMUL(d, a, b)     TT_WORD(0x86, (a) << 16 | (b) << 12 | 9 << 8 | (d) << 4)
enum { FIRST = 2, MIN_MAX = 1, ROUNDS = 3 };

#if THREAD == 1
void kernel_main(void) {
    math_setup();
    push(TT_SFPENCC_ALL);
    push(TT_SFPLOADI_BF16(1, 0x4000));
    push(TT_SFPLOADI_BF16(2, 0x3F80));
    push(TT_REPLAY(0, 3, 0, 1));
    push(TT_SFPSWAP(FIRST, 1, MIN_MAX));
    push(TT_SFPSTORE(FIRST, SFP_BF16, 0));
    push(TT_SFPMUL(FIRST, 1, 1));
    for (u32 round = 0; round < ROUNDS; round++) {
        push(TT_REPLAY(0, 3, 0, 0));
        if (!BUG) push(TT_SFPNOP); /* MISSING HERE */
    }
    tensix_sync();
}
#else
void kernel_main(void) {}
#endif
