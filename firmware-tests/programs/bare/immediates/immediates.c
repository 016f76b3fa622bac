/* Scalar-unit words beyond register addition: 16-bit halves and 6-bit constants.
 * r1: SETDMAREG low half 0x5678 (half 2), high half 0x1234 (half 3)              -> 0x12345678
 * r2 = r1 + 63 (constant)                                                       -> 0x123456B7
 * r3 = r2 + r1                                                                  -> 0x2468AD2F
 * r4: low half 0xFFFF over 0xAAAAAAAA                                           -> 0xAAAAFFFF
 * Source: [isa-wh: SETDMAREG_Immediate.md, ADDDMAREG.md]. */
#include "bare.h"

void main(void) {
    set_gpr(4, 0xAAAAAAAA);
    push(TT_SETDMAREG(2, 0x5678));
    push(TT_SETDMAREG(3, 0x1234));
    push(TT_ADDDMAREG_IMM(2, 63, 1));
    push(TT_ADDDMAREG(3, 1, 2));
    push(TT_SETDMAREG(8, 0xFFFF));
    tensix_sync();
    for (u32 i = 1; i <= 4; i++) RESULT[i] = GPR(i);
    done();
}
