/* Waiting for source banks: thread 0's addition stands behind STALLWAIT(SrcA and SrcB valid) until thread 1 gives both banks to
 * the matrix unit with SETDVALID; then thread 0 hands them back with CLEARDVALID (reset) and a wait for "both clear" passes.
 * TRISC1 sends SETDVALID only after it has seen thread 0's GPR 3 marker and 500 polls of flag 1 still at 0.
 * Results  TRISC0 2 (both additions done);  TRISC1 1 if thread 0 had not passed before SETDVALID.
 * Source: [isa-wh: SETDVALID.md, CLEARDVALID.md]; [isa-bh: STALLWAIT.md]. */
#include "bare.h"

#define TT_SETDVALID(banks) TT_WORD(0x57, (banks))
#define TT_CLEARDVALID_RESET TT_WORD(0x36, 1)
enum { COUNT = 1, ONE = 2 };

#ifdef ROLE_TRISC0
void main(void) {
    set_gpr(COUNT, 0);
    set_gpr(ONE, 1);
    push(TT_STALLWAIT(BLOCK_THCON, WAIT_SRCA_VLD | WAIT_SRCB_VLD));
    push(TT_ADDDMAREG(COUNT, ONE, COUNT));
    set_flag(0, 1);
    tensix_sync();
    set_flag(1, 1);
    push(TT_CLEARDVALID_RESET);
    push(TT_STALLWAIT(BLOCK_THCON, WAIT_MATH | WAIT_SRCA_CLR | WAIT_SRCB_CLR));
    push(TT_ADDDMAREG(COUNT, ONE, COUNT));
    tensix_sync();
    RESULT[1] = GPR(COUNT);
    done();
}
#endif

#ifdef ROLE_TRISC1
void main(void) {
    await_flag(0, 1);
    u32 held = 1;
    for (u32 i = 0; i < 500; i++) {
        fence();
        if (FLAG(1) != 0) held = 0;
    }
    RESULT[1] = held;
    push(TT_SETDVALID(3));
    tensix_sync();
    done();
}
#endif
