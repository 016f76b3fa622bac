/* Code and data of every kind a C compiler makes: switch table, function pointers, .rodata, .data, .bss, deep recursion.
 * The same source runs on all five cores at once, each in its own local RAM.
 *
 * Arguments  n, result     (n small)
 * Results    0  sum of the first ten primes through a ten-way switch         = 129
 *            1  negate(square(double(n + 3))) through a table of functions   = -(4 (n + 3)^2)
 *            2  fib(12) by naive recursion                                   = 144
 *            3  sum of bss[i] = i, i < 32, after checking it began as zero   = 496
 *            4  .data counter: starts at 1000, one more per function call    = 1004
 *            5  .rodata text, sum of the characters of "tensix" (116 + 101 + 110 + 115 + 105 + 120) = 667
 *            6  1 if sp and the address of .data lie in local RAM            = 1
 *            7  recursion 20 deep with 8 words of frame data: sum 0..20      = 210
 *            8  gp as the firmware left it                                   = 0xFFB007F0 */
#include "kernel.h"

static int counter = 1000;
static u32 cells[32];
static const char text[] = "tensix";

static __attribute__((noinline)) u32 prime(u32 index) {
    switch (index) {
    case 0: return 2;
    case 1: return 3;
    case 2: return 5;
    case 3: return 7;
    case 4: return 11;
    case 5: return 13;
    case 6: return 17;
    case 7: return 19;
    case 8: __asm__ volatile("" ::: "memory"); return 23;
    case 9: counter += 0; return 29;
    default: return 0;
    }
}

static u32 add_three(u32 x) { counter++; return x + 3; }
static u32 twice(u32 x) { counter++; return x + x; }
static u32 square(u32 x) { counter++; return x * x; }
static u32 negate(u32 x) { counter++; return -x; }
static u32 (*volatile operations[])(u32) = {add_three, twice, square, negate};

static __attribute__((noinline)) u32 fib(u32 n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

static __attribute__((noinline)) u32 deep(u32 depth) {
    volatile u32 frame[8];
    for (u32 i = 0; i < 8; i++) frame[i] = depth;
    return depth == 0 ? frame[7] : frame[3] + deep(depth - 1);
}

static int in_local_ram(u32 address) { return address - 0xFFB00000u < 0x2000u; }

void kernel_main(void) {
    u32 value = arg(0), sum = 0;
    volatile u32 *result = (volatile u32 *)arg(1);
    for (u32 i = 0; i < 11; i++) sum += prime(i);
    result[0] = sum;
    for (u32 i = 0; i < 4; i++) value = operations[i](value);
    result[1] = value;
    result[2] = fib(12);
    sum = 0;
    for (u32 i = 0; i < 32; i++) sum += cells[i] == 0 ? (cells[i] = i) : 0x10000;
    result[3] = sum;
    result[4] = counter;
    const volatile char *at = text;
    for (sum = 0; *at; at++) sum += *at;
    result[5] = sum;
    u32 sp, gp;
    __asm__ volatile("mv %0, sp\n\tmv %1, gp" : "=r"(sp), "=r"(gp));
    result[6] = in_local_ram(sp) && in_local_ram((u32)&counter);
    result[7] = deep(20);
    result[8] = gp;
}
