/* C5 constant-not-set: The vector unit multiplies by a constant that only the init of the operation sets, which is left out.
 * Seen in: tt-metal #26481.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "operations.h"

#if THREAD == 1
void kernel_main(void) {
    math_setup();
    push(TT_SFPENCC_ALL);
    push(TT_SFPLOADI_BF16(0, 0x3F80));
    if (!BUG) _llk_math_scale_sfpu_init_(); /* MISSING HERE */
    _llk_math_scale_sfpu_();
    push(TT_SFPNOP);
    push(TT_SFPSTORE(0, SFP_BF16, 0));
    tensix_sync();
}
#else
void kernel_main(void) {}
#endif
