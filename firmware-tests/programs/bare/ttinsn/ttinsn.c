/* `.ttinsn`: Tensix words in the instruction stream. On a TRISC up to four neighbours are fused when cfg0 bit 18 is clear;
 * the effect is the same. BRISC may use them too (thread 0, unfused).
 * r1 from 0, 8 words +1 *2 +1 *2 ...: after k pairs r = 2^(k+1) - 2: 4 pairs -> 30, the same four again: 30 -> 510.
 * Results  TRISC1 30 (fusion on, its reset state), 510 (fusion off)
 *          BRISC  510 in GPR 1 of thread 0 (no fusion), as TRISC0 is not running.
 * Source: [isa-bh: TensixTile/BabyRISCV/PushTensixInstruction.md]; [spec: boot-and-sync 3.1, 5.2]. */
#include "bare.h"

enum { R = 1, C1 = 9, DIS_TRISC_CACHE = 1 << 18 };
#define PLUS1 TT_ADDDMAREG(R, C1, R)
#define TWICE TT_ADDDMAREG(R, R, R)

/* Eight neighbours, aligned so that two fused groups of four are possible. */
static __attribute__((noinline, aligned(16))) void eight(void) {
    TTINSN(PLUS1); TTINSN(TWICE); TTINSN(PLUS1); TTINSN(TWICE);
    TTINSN(PLUS1); TTINSN(TWICE); TTINSN(PLUS1); TTINSN(TWICE);
}

#ifdef ROLE_BRISC
/* BRISC has no TTSync: it waits for the value it expects. */
void main(void) {
    set_gpr(R, 0);
    set_gpr(C1, 1);
    eight();
    eight();
    while (GPR(R) != 510) {}
    RESULT[1] = GPR(R);
    done();
}
#else
void main(void) {
    set_gpr(R, 0);
    set_gpr(C1, 1);
    eight();
    tensix_sync();
    RESULT[1] = GPR(R);
    csr_set_cfg0(DIS_TRISC_CACHE);
    eight();
    tensix_sync();
    RESULT[2] = GPR(R);
    done();
}
#endif
