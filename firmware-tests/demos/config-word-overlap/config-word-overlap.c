/* Two threads own different fields of one configuration word: the zero flags of unpack and math, and the packer's ReLU.
 * The packer's thread writes the whole word back as it read it before, and takes back what the other has set in between.
 * Seen in: tt-llk #1655. Word 2 of the ALU section: bits 0-1 zero flags, bits 2-5 ApplyRelu. */
#include "hazard.h"

enum { WORD = 2, GPR = 4 };

#if THREAD == 0
void kernel_main(void) {
    consume(MAILBOX(PEER_TRISC2)); /* only so that the demonstration always comes out the same */
    push(TT_RMWCIB(0, 0x03, 0x03, WORD)); /* zero flags off */
    tensix_sync();
    MAILBOX(PEER_TRISC2) = 1;
}
#elif THREAD == 2
void kernel_main(void) {
    push(TT_RMWCIB(0, 0x3C, 0x04, WORD)); /* ReLU on */
    push(TT_RDCFG(GPR, WORD));
    tensix_sync();
    MAILBOX(PEER_TRISC0) = 1;
    consume(MAILBOX(PEER_TRISC0));
    push(TT_WRCFG(GPR, WORD)); /* the whole word, as it was */
    tensix_sync();
}
#else
void kernel_main(void) {}
#endif
