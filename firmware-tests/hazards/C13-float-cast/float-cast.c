/* C13 float-cast: A cast of 2.7 to an integer, as the compiler makes it with -march=rv32imf: towards zero,
 * which these cores do not know. The twin rounds to nearest and takes one away where that was up.
 * Seen in: the page on the instruction set says that rounding mode bits are ignored.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { RESULT = 0x30000, TWO_POINT_SEVEN = 0x402CCCCD };

void kernel_main(void) {
    u32 value = TWO_POINT_SEVEN, whole;
#if BUG
    __asm__ volatile(".option push\n.option arch, +f\n" /* HERE */
                     "fmv.w.x ft0, %1\nfcvt.w.s %0, ft0, rtz\n"
                     ".option pop" : "=r"(whole) : "r"(value));
#else
    u32 above;
    __asm__ volatile(".option push\n.option arch, +f\n"
                     "fmv.w.x ft0, %2\nfcvt.w.s %0, ft0, rne\nfcvt.s.w ft1, %0\nflt.s %1, ft0, ft1\n"
                     ".option pop" : "=&r"(whole), "=r"(above) : "r"(value));
    whole -= above;
#endif
    REG32(RESULT) = whole;
}
