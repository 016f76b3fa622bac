/* BRISC starts and stops TRISC0. Only BRISC is released by the loader; TRISC0's image is loaded but held.
 *  1. TRISC0 starts at its default PC 0x6000, writes 0xA1 and dirties a local word, spins.
 *  2. BRISC resets it, points its reset PC at `second_entry` (address left by the first run in RESULT_OF(1)[4]), enables the
 *     override, releases: TRISC0 reports 0xB2 and the local word, which reset has zeroed.
 *  3. BRISC resets it again, clears the override: TRISC0 starts at 0x6000 once more and writes 0xA1 again (count 2).
 * Results  BRISC 0xA1, 0xB2, 0 (the local word after reset), 2 (starts at the default PC)
 * Source: [isa-bh: TensixTile/SoftReset.md]; [spec: boot-and-sync 2]. */
#include "bare.h"

enum { FIRST = 0, SECOND = 1, LOCAL = 2, ADDRESS = 3, COUNT = 4 };
#define DIRTY REG32(0xFFB00100)

#ifdef ROLE_BRISC
#define ALL_BUT_BRISC (SOFT_RESET_TRISC0 | SOFT_RESET_TRISC1 | SOFT_RESET_TRISC2 | SOFT_RESET_NCRISC)
static void restart(void) {
    SOFT_RESET_0 = ALL_BUT_BRISC;
    consume(SOFT_RESET_0);
    SOFT_RESET_0 = ALL_BUT_BRISC & ~SOFT_RESET_TRISC0;
}

void main(void) {
    restart();
    await_flag(FIRST, 0xA1);
    TRISC0_RESET_PC = FLAG(ADDRESS);
    TRISC_RESET_PC_OVERRIDE = 1;
    restart();
    await_flag(SECOND, 0xB2);
    RESULT[1] = FLAG(FIRST);
    RESULT[2] = FLAG(SECOND);
    RESULT[3] = FLAG(LOCAL);
    FLAG(FIRST) = 0;
    TRISC_RESET_PC_OVERRIDE = 0;
    restart();
    await_flag(FIRST, 0xA1);
    RESULT[4] = FLAG(COUNT);
    SOFT_RESET_0 = ALL_BUT_BRISC;
    done();
}
#else
extern void second_entry(void);
__asm__(".globl second_entry\n"
        ".type second_entry, @function\n"
        "second_entry:\n"
        "    la sp, __stack_top\n"
        "    j report_second\n");

void report_second(void) {
    FLAG(LOCAL) = DIRTY;
    set_flag(SECOND, 0xB2);
    for (;;) {}
}

void main(void) {
    DIRTY = 0xD1D1;
    FLAG(ADDRESS) = (u32)&second_entry;
    FLAG(COUNT) = FLAG(COUNT) + 1;
    set_flag(FIRST, 0xA1);
    for (;;) {}
}
#endif
