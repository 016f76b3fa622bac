/* Entry of a bare program at its core's reset PC: the tile is fresh out of reset, there is no firmware.
 * Sets gp and a stack in local RAM (which reset has zeroed), runs main, then spins for ever.
 * Data and bss lie in L1 behind the text, already in place. */
    .section .start, "ax", @progbits
    .globl _start
    .type _start, @function
_start:
    .option push
    .option norelax
    la gp, __global_pointer$
    .option pop
    la sp, __stack_top
    call main
    .globl spin
spin:
    j spin
    .size _start, . - _start
