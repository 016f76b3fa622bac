/* Contention on one L1 word: every core adds `step` to it `count` times with amoadd.w, and every old value it gets back
 * must be a multiple of the step below the final total. With the same count and step on five cores the word ends at
 * start + 5 count step exactly: no increment is lost.
 * Arguments  counter, count, step, start, result    Results  count of old values that were out of range (0), count
 * Source: [isa-bh: TensixTile/BabyRISCV/README.md] (Zaamo on L1). */
#include "kernel.h"

void kernel_main(void) {
    volatile u32 *counter = (volatile u32 *)arg(0);
    u32 count = arg(1), step = arg(2), start = arg(3), strange = 0;
    for (u32 i = 0; i < count; i++) {
        u32 added = amoadd(counter, step) - start;
        if (added % step != 0 || added / step >= 5 * count) strange++;
    }
    volatile u32 *result = (volatile u32 *)arg(4);
    result[0] = strange;
    result[1] = count;
}
