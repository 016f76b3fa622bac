/* A4 get-from-mop: Unpack counts its contexts with UNPACK_SYNC: the core posts, the MOP gets. The MOP has one get too many,
 * which is lost while the count is 0; by then the core polls for a count of 0 that never comes.
 * Seen in: tt-metal #16439, #21976.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

enum { UNPACK_SYNC = 5, ROUNDS = 6 };

#if THREAD == 0
/* Outer count 1, inner count `gets`; all other words are NOPs [isa-bh: MOPExpander.md]. */
static void configure(u32 gets) {
    MOP_CFG_WORD(0) = 1;
    MOP_CFG_WORD(1) = gets;
    for (u32 i = 2; i < 9; i++) MOP_CFG_WORD(i) = TT_NOP;
    MOP_CFG_WORD(5) = TT_SEMGET(1 << UNPACK_SYNC);
    MOP_CFG_WORD(6) = TT_NOP;
    MOP_CFG_WORD(7) = TT_SEMGET(1 << UNPACK_SYNC);
    MOP_CFG_WORD(8) = TT_SEMGET(1 << UNPACK_SYNC);
}

static u32 __attribute__((noinline)) in_use(void) { return SEMAPHORE(UNPACK_SYNC); }

void kernel_main(void) {
    push(TT_SEMINIT(2, 0, 1 << UNPACK_SYNC));
    tensix_sync();
    configure(1);
    for (u32 round = 0; round < ROUNDS; round++) {
        u32 early = BUG && round == ROUNDS - 1;
        if (early) {
            push(TT_MOP1); /* nothing is in use yet */ /* HERE */
            tensix_sync();
        }
        SEMAPHORE(UNPACK_SYNC) = 0; /* even: post */
        if (!early) push(TT_MOP1);
    }
    while (in_use() != 0) {}
}
#else
void kernel_main(void) {}
#endif
