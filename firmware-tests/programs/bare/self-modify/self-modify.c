/* Self-modifying code and the instruction cache. `target` returns a constant; its first word is replaced twice.
 *  1. without invalidation: the old or the new constant may come back, and nothing else (result 2 is 1 either way)
 *  2. after RISCV_IC_INVALIDATE for this core and more than twenty instructions: the new constant, surely.
 * Results  7 (before), 1, 9 (after invalidation).
 * Source: [spec: boot-and-sync 2] (instruction caches); [isa-bh: BackendConfiguration.md]. */
#include "bare.h"

#define LI_A0(value) (0x00000513u | ((value) << 20)) /* addi a0, x0, value */
u32 target(void);
__asm__(".balign 16\n.globl target\n.type target, @function\ntarget: addi a0, x0, 7\n ret\n");

void main(void) {
    RESULT[1] = target();
    *(volatile u32 *)&target = LI_A0(8);
    fence();
    u32 value = target();
    RESULT[2] = value == 7 || value == 8;
    *(volatile u32 *)&target = LI_A0(9);
    fence();
    RISCV_IC_INVALIDATE = 1u << CORE;
    consume(CFG_WORD(3)); /* the write before this read has been processed */
    __asm__ volatile(".rept 40\n nop\n .endr");
    RESULT[3] = target();
    done();
}
