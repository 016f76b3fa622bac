/* PCBuf from BRISC to TRISC0: 16 entries, back-pressure, and BRISC's blocking read.
 * BRISC pushes 1..24 (more than fit while TRISC0 sleeps), then reads: the read returns 0 only when the FIFO is empty,
 * TRISC0 is blocked reading it, and Tensix thread 0 is idle. Then BRISC raises flag 1 and pushes 100, which frees TRISC0.
 * TRISC0 sleeps until flag 0, pops 24 values (sum 300), pushes 200 additions to its Tensix thread, writes RESULT[1], and pops
 * once more: 100. Its flag reading afterwards must be 1, because the value came after the flag.
 * Results  BRISC  0 (value of the read), GPR 1 of thread 0 seen right after the read = 200, TRISC0's RESULT[1] = 300
 *          TRISC0 300, 100, 1
 * Source: [isa-bh: TensixTile/BabyRISCV/PCBufs.md]. */
#include "bare.h"

enum { VALUES = 24, ADDITIONS = 200, SUM = 1, ONE = 2 };

#ifdef ROLE_BRISC
void main(void) {
    FLAG(0) = 1;
    for (u32 i = 1; i <= VALUES; i++) PC_BUF(0) = i;
    u32 answer = PC_BUF(0);
    consume(answer);
    RESULT[1] = answer;
    RESULT[2] = GPR(SUM);
    fence();
    RESULT[3] = RESULT_OF(1)[1];
    set_flag(1, 1);
    PC_BUF(0) = 100;
    done();
}
#endif

#ifdef ROLE_TRISC0
void main(void) {
    set_gpr(SUM, 0);
    set_gpr(ONE, 1);
    await_flag(0, 1);
    u32 sum = 0;
    for (u32 i = 0; i < VALUES; i++) sum += PC_BUF_OWN;
    RESULT[1] = sum;
    for (u32 i = 0; i < ADDITIONS; i++) push(TT_ADDDMAREG(SUM, ONE, SUM));
    fence(); /* the sum is in L1 before BRISC can be let go */
    u32 last = PC_BUF_OWN;
    consume(last);
    RESULT[2] = last;
    RESULT[3] = FLAG(1);
    done();
}
#endif
