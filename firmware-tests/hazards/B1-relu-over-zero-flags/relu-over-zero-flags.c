/* B1 relu-over-zero-flags: Pack sets its ReLU with a store of the whole word, in which math has set how zeros are treated.
 * Seen in: tt-llk #1655, tt-metal #48320.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { ALU_ACC_CTRL = 2, ZERO_FLAGS = 3, RELU = 1 << 2 };

#if THREAD == 1
void kernel_main(void) {
    push(TT_RMWCIB(0, ZERO_FLAGS, ZERO_FLAGS, ALU_ACC_CTRL));
    tensix_sync();
    MAILBOX(PEER_TRISC2) = 1;
}
#elif THREAD == 2
void kernel_main(void) {
    consume(MAILBOX(PEER_TRISC1));
    if (BUG) {
        CFG_WORD(ALU_ACC_CTRL) = RELU; /* HERE */
    } else {
        push(TT_RMWCIB(0, RELU, RELU, ALU_ACC_CTRL));
    }
    tensix_sync();
}
#else
void kernel_main(void) {}
#endif
