/* A18 ebreak: An assertion of pack fails after three tiles: it stops at an ebreak, followed by the eight NOPs that it needs;
 * nobody is there to continue it.
 * Seen in: tt-llk assertions.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

#if THREAD == 2
static void check(u32 good) {
    if (!good) __asm__ volatile("ebreak\nnop\nnop\nnop\nnop\nnop\nnop\nnop\nnop");
}

void kernel_main(void) {
    for (u32 tile = 0; tile < 5; tile++) {
        push(TT_NOP);
        check(!BUG || tile < 3); /* HERE */
    }
    tensix_sync();
}
#else
void kernel_main(void) {}
#endif
