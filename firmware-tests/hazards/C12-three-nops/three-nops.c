/* C12 three-nops: An assertion of math stops at an ebreak with only three NOPs behind it.
 * Seen in: tt-exalens #1069.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

#if THREAD == 1
static void __attribute__((noinline)) check(u32 good) {
    if (!good) __asm__ volatile("ebreak\nnop\nnop\nnop");
}

void kernel_main(void) {
    for (u32 tile = 0; tile < 5; tile++) {
        push(TT_NOP);
        check(!BUG || tile != 3); /* HERE */
    }
    tensix_sync();
}
#else
void kernel_main(void) {}
#endif
