/* Deliberate guest mistakes, one per build; each must be diagnosed at its instruction and nothing behind it may run.
 * Results  1 before the mistake; word 2 stays 0; no done mark.
 * Sources: [isa-bh: TensixTile/BabyRISCV/README.md] memory map (which core reaches what), "invalid instructions result in
 * UndefinedBehavior". */
#include "bare.h"

void main(void) {
    RESULT[1] = 1;
    fence();
#if defined(UNMAPPED_STORE)
    REG32(0x80000000) = 1; /* nothing lies between L1 and 0xFFB00000 */
#elif defined(UNMAPPED_LOAD)
    consume(REG32(0x00180000)); /* first address behind L1 */
#elif defined(APERTURE)
    REG32(INSTRN1_BUF_BASE) = TT_NOP; /* only BRISC may push to thread 1 from outside */
#elif defined(NCRISC_CONFIG)
    CFG_WORD(12) = 1; /* NCRISC reaches no Tensix register */
#elif defined(NCRISC_MAILBOX)
    consume(MAILBOX(PEER_BRISC));
#elif defined(BRISC_MOP_CONFIG)
    REG32(TENSIX_MOP_CFG_BASE) = 1; /* MOP configuration belongs to the TRISCs */
#elif defined(MISALIGNED_LOAD)
    /* In assembly: the compiler would split an access it knows to be misaligned. */
    __asm__ volatile("lw t0, 0(%0)" : : "r"(0x30001) : "t0", "memory");
#elif defined(MISALIGNED_STORE)
    __asm__ volatile("sh zero, 0(%0)" : : "r"(0x30001) : "memory");
#elif defined(ILLEGAL)
    __asm__ volatile(".word 0xFFFFFFFF");
#elif defined(ATOMIC_LOCAL)
    amoadd((volatile u32 *)(MEM_LOCAL_BASE + 0x100), 1); /* atomics exist on L1 only */
#elif defined(LOCAL_OVERFLOW)
    REG32(MEM_LOCAL_BASE + 0x1000) = 1; /* a TRISC has 4 KiB */
#else
#error "name a mistake"
#endif
    fence();
    RESULT[2] = 1;
    done();
}
