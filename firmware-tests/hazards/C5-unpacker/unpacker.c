/* C5 unpacker: Unpack takes a face of BF16 of which the reader has filled only the first half.
 * Seen in: tt-metal #42991.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "compute.h"

enum { FACE = 0x30000 };

#ifdef ROLE_BRISC
void kernel_main(void) {
    for (u32 i = 0; i < FACE_BYTES / (BUG ? 8 : 4); i++) REG32(FACE + 4 * i) = 0x3F803F80; /* HERE */
    fence();
    MAILBOX(PEER_TRISC0) = 1;
}
#elif THREAD == 0
void kernel_main(void) {
    unpack_setup(256, 0);
    consume(MAILBOX(PEER_BRISC));
    unpack(0, FACE, 0);
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
