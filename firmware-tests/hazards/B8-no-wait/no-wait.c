/* B8 no-wait: Pack takes each tile when it is ready itself, and never waits until math has given it.
 * Seen in: tt-metal #45526.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "compute.h"
#include "hazard.h"

enum { TILES = 3, OUT = 0x30000 };

#if THREAD == 1
void kernel_main(void) {
    math_setup();
    push(TT_SFPLOADI_BF16(0, 0x3F80));
    MAILBOX(PEER_TRISC2) = 1;
    for (u32 tile = 0; tile < TILES; tile++) {
        math_begin(tile % 2);
        push(TT_SFPSTORE(0, SFP_BF16, 0));
        math_end();
    }
    tensix_sync();
}
#elif THREAD == 2
void kernel_main(void) {
    pack_setup();
    consume(MAILBOX(PEER_TRISC1));
    for (u32 tile = 0; tile < TILES; tile++) {
        tensix_sync(); /* what was packed before is out */
        CFG_WORD(180) = tile % 2 * HALF_ROWS; /* DEST_TARGET_REG_CFG_PACK_SEC0_Offset */
        CFG_WORD(69) = (OUT + FACE_BYTES * tile) / 16 - 1;
        consume(CFG_WORD(69));
        push(TT_STALLWAIT(BLOCK_PACK, WAIT_TRISC_CFG));
        spend(300); /* math is ahead, so that the result is right all the same */
        if (!BUG) push(TT_SEMWAIT(BLOCK_PACK, 1 << SEM_MATH, SEM_WHILE_ZERO)); /* MISSING HERE */
        pack_rows(0, 1);
        pack_end();
    }
    tensix_sync();
}
#else
void kernel_main(void) {}
#endif
