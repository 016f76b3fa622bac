/* C5 uninitialised-read: A sum over four words of a buffer of which only three were filled.
 * Seen in: tt-metal #43435, #42991.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { BUFFER = 0x30000, WORDS = 4 };

void kernel_main(void) {
    for (u32 i = 0; i < WORDS - BUG; i++) REG32(BUFFER + 4 * i) = i + 1; /* HERE */
    u32 sum = 0;
    for (u32 i = 0; i < WORDS; i++) sum += REG32(BUFFER + 4 * i);
    REG32(0x31000) = sum;
}
