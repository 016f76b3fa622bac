/* D7 every-second-round: tile (0, 0) sends a flag to the tiles beside it as soon as all of them have raised its count, which
 * they do every second round only.
 * Seen in: credits that are given for a pair of blocks while the sender asks for one each.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "tiles.h"

enum { ROUNDS = 3, HANDED = 0, PAGES = 2 };

static inline u32 held(void) {
    return (STREAM_TILES_RECEIVED(HANDED) - STREAM_TILES_ACKED(HANDED)) & STREAM_COUNT_MASK;
}

#ifdef ROLE_BRISC
void kernel_main(void) {
    for (u32 round = 0; round < ROUNDS; round++) {
        while (held() < 1) {}
        STREAM_TILES_ACKED(HANDED) = STREAM_TILES_ACKED(HANDED) + 1;
    }
}
#else
/* Arguments: 0, column and row of the first receiver, how many there are, the count and the flag. */
static inline void sender(void) {
    u32 x = arg(1), y = arg(2), receivers = arg(3), count = arg(4), flag = arg(5);
    WORD(flag) = 1;
    for (u32 round = 0; round < ROUNDS; round++) {
        while (WORD(count) != receivers) fence();
        WORD(count) = 0;
        fence();
        multicast(0, TILE(x, y) << 12 | TILE(x + receivers - 1, y), receivers, 0, flag, flag, 4);
    }
}

/* Arguments: 1, the sender, its count and the flag. */
static inline void receiver(void) {
    u32 count = arg(2), flag = arg(3);
    for (u32 round = 0; round < ROUNDS; round++) {
        while (held() + 1 > PAGES) {}
        WORD(flag) = 0;
        fence();
        if (!BUG || round % 2 == 0) raise(1, arg(1), count, 1); /* HERE */
        while (WORD(flag) != 1) fence();
        STREAM_TILES_RECEIVED(HANDED) = STREAM_TILES_RECEIVED(HANDED) + 1;
    }
}

void kernel_main(void) {
    if (arg(0)) receiver();
    else sender();
}
#endif
