/* Producer and consumer in three Tensix threads. Semaphore 0 counts items from thread 0 to thread 1 (at most 2), semaphore 6 from
 * thread 1 to thread 2 (at most 3). Each thread adds to its own GPR 1 behind the wait, so the GPR counts passes of the gate.
 *   thread 0: [SEMWAIT while semaphore 0 is full, SEMPOST 0, add 1] x 40          -> GPR 1 = 40
 *   thread 1: [SEMWAIT while 0 is empty, SEMGET 0, SEMWAIT while 6 is full, SEMPOST 6, add 1] x 40 -> GPR 1 = 40
 *   thread 2: [SEMWAIT while 6 is empty, SEMGET 6, add 1] x 30 in the Tensix stream, the last 10 by TRISC2 itself through
 *             the semaphore window                                               -> GPR 1 = 30, own count 10
 * Results  each thread its counts; TRISC2 also both semaphores at the end (0, 0).
 * Source: [isa-bh: SEMWAIT.md, SEMPOST.md, SEMGET.md, SyncUnit.md]. */
#include "bare.h"

enum { FIRST = 0, SECOND = 6, ITEMS = 40, BY_HAND = 10, COUNT = 1, ONE = 2 };

static void prepare(void) {
    set_gpr(COUNT, 0);
    set_gpr(ONE, 1);
}

#ifdef ROLE_TRISC0
void main(void) {
    prepare();
    push(TT_SEMINIT(2, 0, 1 << FIRST));
    push(TT_SEMINIT(3, 0, 1 << SECOND));
    tensix_sync();
    set_flag(0, 1);
    for (u32 i = 0; i < ITEMS; i++) {
        push(TT_SEMWAIT(BLOCK_SYNC | BLOCK_THCON, 1 << FIRST, SEM_WHILE_MAX));
        push(TT_SEMPOST(1 << FIRST));
        push(TT_ADDDMAREG(COUNT, ONE, COUNT));
    }
    tensix_sync();
    RESULT[1] = GPR(COUNT);
    done();
}
#endif

#ifdef ROLE_TRISC1
void main(void) {
    prepare();
    await_flag(0, 1);
    for (u32 i = 0; i < ITEMS; i++) {
        push(TT_SEMWAIT(BLOCK_SYNC | BLOCK_THCON, 1 << FIRST, SEM_WHILE_ZERO));
        push(TT_SEMGET(1 << FIRST));
        push(TT_SEMWAIT(BLOCK_SYNC | BLOCK_THCON, 1 << SECOND, SEM_WHILE_MAX));
        push(TT_SEMPOST(1 << SECOND));
        push(TT_ADDDMAREG(COUNT, ONE, COUNT));
    }
    tensix_sync();
    RESULT[1] = GPR(COUNT);
    done();
}
#endif

#ifdef ROLE_TRISC2
void main(void) {
    prepare();
    await_flag(0, 1);
    for (u32 i = 0; i < ITEMS - BY_HAND; i++) {
        push(TT_SEMWAIT(BLOCK_SYNC | BLOCK_THCON, 1 << SECOND, SEM_WHILE_ZERO));
        push(TT_SEMGET(1 << SECOND));
        push(TT_ADDDMAREG(COUNT, ONE, COUNT));
    }
    tensix_sync();
    RESULT[1] = GPR(COUNT);
    u32 taken = 0;
    while (taken < BY_HAND) {
        if (SEMAPHORE(SECOND) == 0) continue;
        SEMAPHORE(SECOND) = 1;
        taken++;
        fence();
    }
    RESULT[2] = taken;
    RESULT[3] = SEMAPHORE(FIRST);
    RESULT[4] = SEMAPHORE(SECOND);
    done();
}
#endif
