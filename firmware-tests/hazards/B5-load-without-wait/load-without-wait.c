/* B5 load-without-wait: A count is loaded into a GPR, and configuration is set to it without waiting for the load.
 * Seen in: the page of LOADREG, which calls it racy to let some cycles elapse.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { SCRATCH = 209, GPR = 12 };

#if THREAD == 0
void kernel_main(void) {
    STREAM_TILES_RECEIVED(5) = 3;
    consume(STREAM_TILES_RECEIVED(5));
    push(TT_LOADREG(GPR, (u32)&STREAM_TILES_RECEIVED(5)));
    if (!BUG) push(TT_STALLWAIT(BLOCK_CFG, WAIT_THCON)); /* MISSING HERE */
    push(TT_WRCFG(GPR, SCRATCH));
    tensix_sync();
    STREAM_TILES_RECEIVED(5) = 0;
}
#else
void kernel_main(void) {}
#endif
