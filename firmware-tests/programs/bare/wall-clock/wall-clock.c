/* Wall clock: reading the low word latches the high word; the live high word is a register of its own.
 * Results, all 1: 0 time moves forward between two reads   1 the latched high word does not change by itself over 64 reads
 *   2 a second pair (low, latched high) is later than the first   3 live high word >= latched high word.
 * Source: [isa-wh: TensixTile/DebugTimestamper.md]; [spec: boot-and-sync 3]. */
#include "bare.h"

static u64 now(void) {
    u32 low = WALL_CLOCK_L;
    consume(low);
    return ((u64)WALL_CLOCK_H << 32) | low;
}

void main(void) {
    u32 first = WALL_CLOCK_L;
    consume(first);
    RESULT[1] = WALL_CLOCK_L - first - 1 < 10000;
    u32 high = WALL_CLOCK_H, same = 1;
    for (u32 i = 0; i < 64; i++) same &= WALL_CLOCK_H == high;
    RESULT[2] = same;
    u64 start = now();
    for (volatile u32 i = 0; i < 100; i++) {}
    RESULT[3] = now() > start;
    RESULT[4] = WALL_CLOCK_1 >= WALL_CLOCK_H;
    done();
}
