/* C21 cb-without-wait: The receiver asks tile (0, 0) for a page, takes its time, and pushes it without a look at the flag that comes
 * behind the data; they have come, as it happens.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "tiles.h"

enum { CB = 0, PAGE_AT = 0x20000, PAGE_BYTES = 0x400, FROM = 0x30000, VALID = 0x32000, FLAG = 0x33000 };

#ifdef ROLE_BRISC
/* Arguments: 1 on the consumer's tile; the receiver, the semaphore here that it raises. */
void kernel_main(void) {
    if (arg(0)) {
        while (STREAM_TILES_RECEIVED(CB) == 0) {}
        STREAM_TILES_ACKED(CB) = 1;
        return;
    }
    for (u32 i = 0; i < PAGE_BYTES / 4; i++) WORD(FROM + 4 * i) = i;
    WORD(VALID) = 1;
    fence();
    await(arg(2), 1);
    send(0, arg(1), FROM, PAGE_AT, PAGE_BYTES);
    send(0, arg(1), VALID, FLAG, 16);
}
#else
/* Arguments: the sender, its semaphore. */
void kernel_main(void) {
    WORD(FLAG) = 0;
    fence();
    raise(1, arg(0), arg(1), 1);
    spend(8000);
    if (!BUG) while (WORD(FLAG) != 1) fence();
    STREAM_TILES_RECEIVED(CB) = 1; /* HERE */
}
#endif
