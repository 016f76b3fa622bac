/* A15 ready-too-early: the receiver tells tile (0, 0) that it is ready and clears its flag afterwards; the sender was quicker, and
 * what is cleared is its answer.
 * Seen in: tt-metal #51036, #48478.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "tiles.h"

#define VALID 0x30000
#define FLAG 0x31000

#ifdef ROLE_BRISC
/* Arguments: the receiver, the semaphore here that it raises. */
void kernel_main(void) {
    WORD(VALID) = 1;
    fence();
    await(arg(1), 1);
    send(0, arg(0), VALID, FLAG, 16);
}
#else
/* Arguments: the sender, its semaphore. */
void kernel_main(void) {
    if (!BUG) WORD(FLAG) = 0;
    fence();
    raise(1, arg(0), arg(1), 1);
    if (BUG) {
        spend(400);
        WORD(FLAG) = 0; /* HERE */
    }
    while (WORD(FLAG) != 1) fence();
}
#endif
