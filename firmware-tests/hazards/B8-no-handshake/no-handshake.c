/* B8 no-handshake: Neither math nor pack says when it is done with Dst; the time that pack takes to set itself up hides it.
 * Seen in: tt-metal #45526.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "compute.h"
#include "hazard.h"

enum { OUT = 0x30000 };

#if THREAD == 1
void kernel_main(void) {
    math_setup();
    push(TT_SFPLOADI_BF16(0, 0x3F80));
    if (!BUG) push(TT_SEMWAIT(BLOCK_MATH | BLOCK_SFPU, 1 << SEM_MATH, SEM_WHILE_MAX));
    push(TT_SETC16(1, 0)); /* DEST_TARGET_REG_CFG_MATH_Offset */
    push(TT_SFPSTORE(0, SFP_BF16, 0));
    if (!BUG) math_end();
    tensix_sync();
}
#elif THREAD == 2
void kernel_main(void) {
    pack_setup();
    spend(600);
    CFG_WORD(180) = 0; /* DEST_TARGET_REG_CFG_PACK_SEC0_Offset */
    CFG_WORD(69) = OUT / 16 - 1;
    consume(CFG_WORD(69));
    push(TT_STALLWAIT(BLOCK_PACK, WAIT_TRISC_CFG));
    if (!BUG) push(TT_SEMWAIT(BLOCK_PACK, 1 << SEM_MATH, SEM_WHILE_ZERO)); /* MISSING HERE */
    pack_rows(0, 1);
    if (!BUG) pack_end();
    tensix_sync();
}
#else
void kernel_main(void) {}
#endif
