/* Deliberate deadlocks, one per build. Every one closes: all agents named in the case file wait for something that no
 * agent can bring any more. Word 1 of each taking core is 1 once it is about to block; the done mark never comes.
 * Sources: [spec: boot-and-sync 5.3-5.7]; hazards A6, A10, A11, A19. */
#include "bare.h"

enum { SEM = 3 };

static inline void begin(void) {
    RESULT[1] = 1;
    fence();
}

#if defined(CROSSED)
/* TRISC1 pops an empty mailbox that only TRISC0 fills; TRISC0 first waits in its Tensix thread for a semaphore that only
 * TRISC1 would post. */
#if CORE == 1
void main(void) {
    push(TT_SEMINIT(1, 0, 1 << SEM));
    begin();
    push(TT_SEMWAIT(BLOCK_SYNC, 1 << SEM, SEM_WHILE_ZERO));
    push(TT_SEMGET(1 << SEM));
    tensix_sync();
    MAILBOX(PEER_TRISC1) = 1;
    done();
}
#else
void main(void) {
    begin();
    consume(MAILBOX(PEER_TRISC0));
    push(TT_SEMPOST(1 << SEM));
    done();
}
#endif
#elif defined(SEMWAIT_NEVER)
void main(void) {
    push(TT_SEMINIT(1, 0, 1 << SEM));
    begin();
    push(TT_SEMWAIT(BLOCK_ALL, 1 << SEM, SEM_WHILE_ZERO));
    push(TT_DMANOP);
    tensix_sync();
    done();
}
#elif defined(MUTEX_LEAK)
/* TRISC0 takes mutex 2, tells TRISC1 and finishes without releasing it. */
#if CORE == 1
void main(void) {
    push(TT_ATGETM(2));
    tensix_sync();
    set_flag(0, 1);
    done();
}
#else
void main(void) {
    await_flag(0, 1);
    begin();
    push(TT_ATGETM(2));
    push(TT_ATRELM(2));
    tensix_sync();
    done();
}
#endif
#elif defined(MUTEX_INVALID)
/* Mutex 1 does not exist: ATGETM waits for ever. */
void main(void) {
    begin();
    push(TT_ATGETM(1));
    tensix_sync();
    done();
}
#elif defined(PCBUF_EMPTY)
/* BRISC, the only one that could push, has ended. */
#if CORE == 0
void main(void) { done(); }
#else
void main(void) {
    begin();
    consume(PC_BUF_OWN);
    done();
}
#endif
#elif defined(FIFO_FULL)
/* The core itself is stuck on a full FIFO behind a held gate. */
void main(void) {
    push(TT_SEMINIT(1, 0, 1 << SEM));
    begin();
    push(TT_SEMWAIT(BLOCK_ALL, 1 << SEM, SEM_WHILE_ZERO));
    for (u32 i = 0; i < 400; i++) push(TT_DMANOP);
    done();
}
#elif defined(DVALID_NEVER)
/* Nobody will ever give SrcA to the matrix unit. */
void main(void) {
    begin();
    push(TT_STALLWAIT(BLOCK_MATH, WAIT_SRCA_VLD));
    push(TT_WORD(0x37, 0)); /* SETRWC, a matrix-unit instruction */
    tensix_sync();
    done();
}
#else
#error "name a deadlock"
#endif
