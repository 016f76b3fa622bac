/* Three Tensix threads increment one shared register under mutex 0: ATGETM, read into a GPR, wait, add, write back,
 * wait, ATRELM. Without the mutex increments get lost; with it the register ends at 3 count.
 * Two variants: configuration word 209 (SCRATCH_SEC0_val) through RDCFG/WRCFG, or with -DSTREAM the register "tiles acked" of
 * overlay stream 40 through LOADREG/STOREREG.
 * TRISC0 clears the register and then lets the others begin through the mailboxes; results are written only when
 * all three are done.
 * Arguments  count, result    Results (TRISC0 only)  register at the end (3 count), 1
 * Sources: [isa-bh: ATGETM.md, RDCFG.md, WRCFG.md, STALLWAIT.md]; [isa-wh: LOADREG.md, STOREREG.md]. */
#include "kernel.h"

enum { MUTEX = 0, VALUE = 20, ONE = 21, WORD = 209, STREAM = 40 };
#ifdef STREAM_VARIANT
#define SHARED_ADDR  (NOC_OVERLAY_START_ADDR + 0x1000 * STREAM + 4 * 8)
#define READ_SHARED  TT_LOADREG(VALUE, SHARED_ADDR)
#define WRITE_SHARED TT_STOREREG(VALUE, SHARED_ADDR)
#define WAIT_SHARED  WAIT_THCON
#else
#define READ_SHARED  TT_RDCFG(VALUE, WORD)
#define WRITE_SHARED TT_WRCFG(VALUE, WORD)
#define WAIT_SHARED  WAIT_CFG
#endif

static void increment(void) {
    push(TT_ATGETM(MUTEX));
    push(READ_SHARED);
    push(TT_STALLWAIT(BLOCK_THCON, WAIT_SHARED));
    push(TT_ADDDMAREG(VALUE, ONE, VALUE));
    push(TT_STALLWAIT(BLOCK_CFG | BLOCK_THCON, WAIT_THCON));
    push(WRITE_SHARED);
    push(TT_STALLWAIT(BLOCK_SYNC, WAIT_SHARED));
#ifdef STREAM_VARIANT
    /* STOREREG is only sent when the instruction is over; a read back by the same unit is answered behind it. */
    push(READ_SHARED);
    push(TT_STALLWAIT(BLOCK_SYNC, WAIT_SHARED));
#endif
    push(TT_ATRELM(MUTEX));
}

void kernel_main(void) {
    u32 count = arg(0);
    GPR(ONE) = 1;
    while (GPR(ONE) != 1) {} /* the store has been processed before any push that uses it */
#if THREAD == 0
    GPR(VALUE) = 0;
    while (GPR(VALUE) != 0) {}
    push(WRITE_SHARED);
    push(TT_STALLWAIT(BLOCK_SYNC, WAIT_SHARED));
    tensix_sync();
    MAILBOX(PEER_TRISC1) = 1;
    MAILBOX(PEER_TRISC2) = 1;
#else
    consume(MAILBOX(PEER_TRISC0));
#endif
    for (u32 i = 0; i < count; i++) increment();
    tensix_sync();
#if THREAD == 0
    consume(MAILBOX(PEER_TRISC1));
    consume(MAILBOX(PEER_TRISC2));
    volatile u32 *result = (volatile u32 *)arg(1);
    push(READ_SHARED);
    push(TT_STALLWAIT(BLOCK_SYNC, WAIT_SHARED));
    tensix_sync();
    result[0] = GPR(VALUE);
    result[1] = 1;
#else
    MAILBOX(PEER_TRISC0) = 1;
#endif
}
