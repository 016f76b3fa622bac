/* Loops for measuring a simulator's speed, one per build. The word at 0x22000 is the number of rounds (0: for ever), read once.
 * Results  word 1 a check value that depends only on the rounds (formula at each loop), then the done mark. */
#include "bare.h"

#define ROUNDS FLAG(0)
#define BUFFER ((volatile u32 *)0x24000)
enum { WORDS = 1024 };

#if defined(ALU)
/* Four dependent chains of add, xor, shift, sub: x returns to rounds * 16 after 16 steps a round. */
static u32 round_of(u32 x) {
    __asm__ volatile(".rept 16\n addi %0, %0, 3\n xori %0, %0, 0x55\n xori %0, %0, 0x55\n addi %0, %0, -2\n .endr" : "+r"(x));
    return x;
}
#elif defined(MULDIV)
/* x = (x * 7 + 7) / 7 = x + 1, eight times a round, for small x. */
static u32 round_of(u32 x) {
    u32 seven = 7;
    __asm__ volatile(".rept 8\n mul %0, %0, %1\n add %0, %0, %1\n divu %0, %0, %1\n .endr" : "+r"(x) : "r"(seven));
    return x;
}
#elif defined(LDST)
/* Sixteen L1 words incremented a round; check = rounds. */
static u32 round_of(u32 x) {
    for (u32 i = 0; i < 16; i++) BUFFER[i] = BUFFER[i] + 1;
    return x + 1;
}
#elif defined(LOCAL)
/* The same in local RAM. */
static u32 round_of(u32 x) {
    volatile u32 *word = (volatile u32 *)(MEM_LOCAL_BASE + 0x400);
    for (u32 i = 0; i < 16; i++) word[i] = word[i] + 1;
    return x + 1;
}
#elif defined(MEMCPY)
/* 4 KiB copied a round, word by word; check = rounds. */
static u32 round_of(u32 x) {
    for (u32 i = 0; i < WORDS; i++) BUFFER[WORDS + i] = BUFFER[i];
    return x + 1;
}
#elif defined(BRANCH)
/* Collatz steps of 27: 111 a round; check = 111 rounds. */
static u32 round_of(u32 x) {
    u32 n = 27;
    while (n != 1) {
        n = n & 1 ? 3 * n + 1 : n >> 1;
        x++;
    }
    return x;
}
#elif defined(PUSH)
/* 32 additions of 1 pushed to the own Tensix thread a round; check = 32 rounds. */
static u32 round_of(u32 x) {
    for (u32 i = 0; i < 32; i++) push(TT_ADDDMAREG(1, 2, 1));
    return x + 32;
}
#elif defined(SPIN)
/* Polls an L1 byte that never changes: parks for ever when rounds is 0. */
static u32 round_of(u32 x) {
    while (ROUNDS == 0) {}
    return x + 1;
}
#else
#error "name a loop"
#endif

void main(void) {
    u32 rounds = ROUNDS, x = 0;
#ifdef PUSH
    set_gpr(1, 0);
    set_gpr(2, 1);
#endif
    for (u32 i = 0; rounds == 0 || i < rounds; i++) x = round_of(x);
#ifdef PUSH
    tensix_sync();
    x = GPR(1);
#endif
    RESULT[1] = x;
    done();
}
