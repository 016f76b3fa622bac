/* Local RAM through the slow path. TRISC2 puts 0x11111111 at its 0xFFB00200; BRISC reads it at 0xFFB1C200, writes 0x22222222 at
 * 0xFFB1C204 and its own RAM through its own slow window; TRISC2 reads the word through the fast path.
 * Results  BRISC 0x11111111, 0x33333333 (own word written at 0xFFB00300, read at 0xFFB14300)
 *          TRISC2 0x22222222
 * Source: [isa-bh: TensixTile/BabyRISCV/README.md], local data RAM. */
#include "bare.h"

#ifdef ROLE_BRISC
void main(void) {
    await_flag(0, 1);
    RESULT[1] = REG32(LOCAL_SLOW_TRISC2 + 0x200);
    REG32(LOCAL_SLOW_TRISC2 + 0x204) = 0x22222222;
    while (REG32(LOCAL_SLOW_TRISC2 + 0x204) != 0x22222222) {}
    set_flag(1, 1);
    REG32(MEM_LOCAL_BASE + 0x300) = 0x33333333;
    fence();
    RESULT[2] = REG32(LOCAL_SLOW_BRISC + 0x300);
    done();
}
#endif

#ifdef ROLE_TRISC2
void main(void) {
    REG32(MEM_LOCAL_BASE + 0x200) = 0x11111111;
    while (REG32(LOCAL_SLOW_TRISC2 + 0x200) != 0x11111111) {}
    set_flag(0, 1);
    await_flag(1, 1);
    RESULT[1] = REG32(MEM_LOCAL_BASE + 0x204);
    done();
}
#endif
