/* STALLWAIT with each condition that is already clear, and with each block bit: every one must let the addition behind it
 * through. Conditions C7 and C8 (SrcA/SrcB valid) would hold and are left to bare/dvalid.
 * Then condition 0 (stands for 0x0F) and block 0 (stands for B6).
 * Results  additions behind 11 single conditions 11; behind 9 single blocks 9; behind the two zero forms 2; total 22.
 * Source: [isa-bh: TensixCoprocessor/STALLWAIT.md]; [spec: boot-and-sync 5.7]. */
#include "bare.h"

enum { COUNT = 1, ONE = 2 };

static u32 count(void) {
    tensix_sync();
    return GPR(COUNT);
}

void main(void) {
    set_gpr(COUNT, 0);
    set_gpr(ONE, 1);
    for (u32 condition = 0; condition < 13; condition++) {
        if (condition == 7 || condition == 8) continue;
        push(TT_STALLWAIT(BLOCK_THCON, 1u << condition));
        push(TT_ADDDMAREG(COUNT, ONE, COUNT));
    }
    RESULT[1] = count();
    for (u32 block = 0; block < 9; block++) {
        push(TT_STALLWAIT(1u << block, WAIT_THCON));
        push(TT_ADDDMAREG(COUNT, ONE, COUNT));
    }
    RESULT[2] = count() - RESULT[1];
    push(TT_STALLWAIT(BLOCK_THCON, 0));
    push(TT_ADDDMAREG(COUNT, ONE, COUNT));
    push(TT_STALLWAIT(0, WAIT_THCON));
    push(TT_ADDDMAREG(COUNT, ONE, COUNT));
    RESULT[3] = count() - RESULT[1] - RESULT[2];
    RESULT[4] = GPR(COUNT);
    done();
}
