/* A full instruction FIFO stalls the pushing core; nothing is lost. Thread 0's gate is held by SEMWAIT on semaphore 0 while TRISC0
 * pushes 400 additions and reports its progress in L1 after each. TRISC1 waits until the progress has stood still
 * for 3000 polls, notes it, then posts the semaphore, and TRISC0 comes through.
 * The queues between core and gate hold a few dozen words [spec: boot-and-sync 5.1]; a progress below 400 is the proof of
 * the stall, its exact value is left open.
 * Results  TRISC0 GPR 1 = 400;  TRISC1 1 if 16 <= progress < 100 at the standstill. */
#include "bare.h"

enum { GATE = 0, PUSHES = 400, COUNT = 1, ONE = 2 };
#define PROGRESS FLAG(4)

#ifdef ROLE_TRISC0
void main(void) {
    set_gpr(COUNT, 0);
    set_gpr(ONE, 1);
    push(TT_SEMINIT(1, 0, 1 << GATE));
    tensix_sync();
    set_flag(0, 1);
    push(TT_SEMWAIT(BLOCK_ALL, 1 << GATE, SEM_WHILE_ZERO));
    for (u32 i = 1; i <= PUSHES; i++) {
        push(TT_ADDDMAREG(COUNT, ONE, COUNT));
        fence(); /* the push has left the store queue before the report */
        PROGRESS = i;
    }
    tensix_sync();
    RESULT[1] = GPR(COUNT);
    done();
}
#endif

#ifdef ROLE_TRISC1
void main(void) {
    await_flag(0, 1);
    u32 last = 0, still = 0;
    while (still < 3000) {
        fence();
        u32 now = PROGRESS;
        still = now == last ? still + 1 : 0;
        last = now;
    }
    RESULT[1] = last >= 16 && last < 100;
    SEMAPHORE(GATE) = 0;
    done();
}
#endif
