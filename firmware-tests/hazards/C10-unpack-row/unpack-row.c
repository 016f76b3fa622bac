/* C10 unpack-row: Unpack writes a face of 16 rows from row 8 on, of the 16 that it can reach: its output address is half a face
 * too far.
 * Seen in: tt-metal #44308.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "compute.h"

enum { FACE = 0x30000 };

#ifdef ROLE_BRISC
void kernel_main(void) {
    for (u32 i = 0; i < FACE_BYTES / 4; i++) REG32(FACE + 4 * i) = 0x3F803F80;
    fence();
    MAILBOX(PEER_TRISC0) = 1;
}
#elif THREAD == 0
void kernel_main(void) {
    unpack_setup(256, 0);
    push(TT_SETC16(5, 0)); /* without SRCA_SET_SetOvrdWithAddr, 16 rows can be reached */
    if (BUG) {
        CFG_WORD(84) = (64 + 8 * 16) << 16 | (64 + 8 * 16); /* row 8 */
        consume(CFG_WORD(84));
    }
    tensix_sync();
    consume(MAILBOX(PEER_BRISC));
    unpack(0, FACE, 0); /* HERE */
    tensix_sync();
}
#elif THREAD == 1
void kernel_main(void) {
    push(TT_STALLWAIT(BLOCK_ALL, WAIT_SRCA_VLD));
    push(TT_CLEARDVALID(1));
    tensix_sync();
}
#else
void kernel_main(void) {}
#endif
