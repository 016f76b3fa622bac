/* C11 undefined-instruction: A word without a meaning is pushed to a Tensix thread.
 * Seen in: tt-sim #17, #18.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

#if THREAD == 0
void kernel_main(void) {
    push(BUG ? TT_WORD(0xFE, 0) : TT_NOP); /* HERE */
    tensix_sync();
}
#else
void kernel_main(void) {}
#endif
