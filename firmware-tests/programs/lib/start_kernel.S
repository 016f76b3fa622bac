/* Entry of a kernel: the first byte of its image, called by the firmware with `jalr` [spec: boot-and-sync 7.4].
 * Copies .data from behind the text in L1 to local RAM, clears .bss (nothing else does), runs kernel_main on the
 * firmware's stack and returns 0. gp and tp stay the firmware's. */
    .section .start, "ax", @progbits
    .globl _start
    .type _start, @function
_start:
    la t0, __kernel_data_lma
    la t1, __data_start
    la t2, __data_end
    j 2f
1:  lw t3, 0(t0)
    sw t3, 0(t1)
    addi t0, t0, 4
    addi t1, t1, 4
2:  bltu t1, t2, 1b
    la t2, __bss_end
    j 4f
3:  sw zero, 0(t1)
    addi t1, t1, 4
4:  bltu t1, t2, 3b
    addi sp, sp, -16
    sw ra, 12(sp)
    call kernel_main
    lw ra, 12(sp)
    addi sp, sp, 16
    li a0, 0
    ret
    .size _start, . - _start
