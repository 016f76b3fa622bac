/* C23 init-left-out: Math goes back from the second operation to the first one without setting it up again, so the MOP of the
 * second one runs.
 * Seen in: tt-lang #274.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "operations.h"

enum { ROUNDS = 3 };

#if THREAD == 1
void kernel_main(void) {
    math_setup();
    push(TT_SFPENCC_ALL);
    push(TT_SFPLOADI_BF16(0, 0x3F80));
    _llk_math_doubling_init_();
    for (u32 round = 0; round < ROUNDS; round++) {
        if (!BUG) _llk_math_doubling_init_(); /* MISSING HERE */
        _llk_math_doubling_();
        _llk_math_increment_init_();
        _llk_math_increment_();
    }
    tensix_sync();
}
#else
void kernel_main(void) {}
#endif
