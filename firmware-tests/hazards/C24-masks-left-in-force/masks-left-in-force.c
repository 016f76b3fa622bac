/* C24 masks-left-in-force: A reduction's edge masks are still in force when the copy behind it is packed: zeros come out but for
 * one column.
 * Seen in: tt-metal #33825.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "operations.h"

enum { OUT = 0x30000 };

#if THREAD == 1
void kernel_main(void) {
    math_setup();
    MAILBOX(PEER_TRISC2) = 1;
    for (u32 half = 0; half < 2; half++) {
        math_begin(half);
        if (half == 0) _llk_math_reduce_(half * HALF_ROWS / 16);
        else _llk_math_eltwise_unary_datacopy_(half * HALF_ROWS / 16);
        math_end();
    }
    tensix_sync();
}
#elif THREAD == 2
void kernel_main(void) {
    pack_setup();
    consume(MAILBOX(PEER_TRISC1));
    for (u32 half = 0; half < 2; half++) {
        if (half == 0) _llk_pack_reduce_mask_config_();
        pack_begin(half, OUT + FACE_BYTES * half);
        if (half == 1 && !BUG) _llk_pack_reduce_mask_clear_(); /* MISSING HERE */
        pack_rows(0, 1);
        pack_end();
    }
    tensix_sync();
}
#else
void kernel_main(void) {}
#endif
