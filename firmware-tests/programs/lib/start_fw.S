/* First instructions of every core of the embedded firmware: core configuration, stack, cleared local RAM, the
 * local-memory image the loader left in L1, then main (never returns).
 * cfg0 ends with the L0 data cache off (bit 3) and .ttinsn fusion off (bit 18) as kernels expect it
 * [spec: boot-and-sync 3, 3.1]; gp is part of the contract with kernels [spec: boot-and-sync 7.4]. */
    .section .start, "ax", @progbits
    .globl _start
    .type _start, @function
_start:
    li t0, 0x40008
    csrrs zero, 0x7C0, t0
    fence
    .option push
    .option norelax
    la gp, __global_pointer$
    .option pop
    la sp, __stack_top
    la t0, __ldm_start
    la t1, __fw_export_ldm_end
1:  sw zero, 0(t0)
    addi t0, t0, 4
    bltu t0, t1, 1b
    la t0, __data_image
    la t1, __data_start
    la t2, __data_end
    j 3f
2:  lw t3, 0(t0)
    sw t3, 0(t1)
    addi t0, t0, 4
    addi t1, t1, 4
3:  bltu t1, t2, 2b
    call main
4:  j 4b
    .size _start, . - _start
