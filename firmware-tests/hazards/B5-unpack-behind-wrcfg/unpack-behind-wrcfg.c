/* B5 unpack-behind-wrcfg: The address of the second tile is set right in front of the UNPACR that goes by it.
 * Seen in: tt-metal #9370.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "compute.h"

enum { IN = 0x20000, BASE_ADDRESS = 76, GPR = 8 };

static inline void address(u32 bytes) {
    u32 units = bytes / 16 - 1;
    push(TT_SETDMAREG(2 * GPR, units & 0xFFFF));
    push(TT_SETDMAREG(2 * GPR + 1, units >> 16));
    push(TT_STALLWAIT(BLOCK_CFG, WAIT_THCON | WAIT_UNPACK0));
    push(TT_WRCFG(GPR, BASE_ADDRESS));
}

#if THREAD == 0
void kernel_main(void) {
    unpack_setup(256, 0);
    for (u32 tile = 0; tile < 2; tile++) {
        address(IN + tile * FACE_BYTES);
        if (!BUG) push(TT_NOP); /* MISSING HERE */
        push(TT_UNPACR(UNPACK_A, 0, 1));
    }
    tensix_sync();
}
#elif THREAD == 1
void kernel_main(void) {
    for (u32 tile = 0; tile < 2; tile++) {
        push(TT_STALLWAIT(BLOCK_MATH, WAIT_SRCA_VLD));
        push(TT_CLEARDVALID(1));
    }
    tensix_sync();
}
#else
void kernel_main(void) {}
#endif
