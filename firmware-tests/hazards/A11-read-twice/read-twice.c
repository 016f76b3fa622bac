/* A11 read-twice: Unpack sends one word per tile, the address; pack reads two, as if the size came too.
 * Seen in: tt-metal #57066.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

#if THREAD == 0
void kernel_main(void) {
    for (u32 tile = 0; tile < arg(0); tile++) MAILBOX(PEER_TRISC2) = 0x1000 + tile;
}
#elif THREAD == 2
static u32 __attribute__((noinline)) receive(void) { return MAILBOX(PEER_TRISC0); }

void kernel_main(void) {
    u32 sum = 0;
    for (u32 tile = 0; tile < arg(0); tile++) {
        sum += receive();
        if (BUG) sum += receive(); /* HERE */
    }
    REG32(0x30000) = sum;
}
#else
void kernel_main(void) {}
#endif
