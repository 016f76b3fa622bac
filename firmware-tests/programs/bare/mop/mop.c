/* MOP templates 0 and 1 with an effect that depends on order: GPR arithmetic r = r + c or r = 2 r, read back at 0xFFE00000.
 * GPR 1..7 are results, 9 = 1, 10 = 2, 11 = 3, 12 = 5.
 *
 * a) Template 0, 32 iterations, mask 0xA5A500FF (16 ones, 16 zeros), A0 with A1-A3 and B:
 *    zero bit: A0 r1 += 1, A1 r2 += 2, A2 r3 += 3, A3 r4 += 5, B r5 += 1; one bit: SkipA0 r6 += 1, SkipB r7 += 2.
 *    -> r1 16, r2 32, r3 48, r4 80, r5 16, r6 16, r7 32
 * b) Template 0, order: 6 iterations, mask 0b010011, B but no A1-A3, all on r1 from 1: A0 r += 1, B r *= 2; SkipA0 r += 3,
 *    SkipB r += 5. Bits low first 1,1,0,0,1,0: 1 -> 9 -> 17 -> 36 -> 74 -> 82 -> 166.
 * c) Template 1, outer 3, inner 2, Loop1 a NOP, r1 from 0: Start +1, Loop *2, last of an inner loop +3, last of all +5,
 *    End0 *2, End1 +1. Pass 1: 1, 2, 5, 10, 11. Pass 2: 12, 24, 27, 54, 55. Pass 3: 56, 112, 117, 234, 235.
 * d) Template 1, outer 2, inner 2, Loop +1 alternating with Loop1 *2 (hence 4 inner), Start and End NOP, r1 from 0:
 *    Pass 1: 1, 2, 3, then +3 instead of the fourth: 6. Pass 2: 7, 14, 15, then +5: 20.
 * e) Template 1 emitting REPLAY: replay slots 0..1 hold r1 += 1, r1 *= 2; outer 1, inner 4 with every instruction
 *    REPLAY(0, 2): from 0: 2, 6, 14, 30.
 * Results  a) seven words, then b, c, d, e one word each.
 * Source: [isa-wh: TensixCoprocessor/MOPExpander.md]; [spec: boot-and-sync 5.9]. */
#include "bare.h"

#define ADD(dst, right) TT_ADDDMAREG(dst, right, dst)
#define DOUBLE(dst)     TT_ADDDMAREG(dst, dst, dst)
enum { C1 = 9, C2 = 10, C3 = 11, C5 = 12 };

/* The expander must be idle before its configuration changes. */
static void configure(const u32 *words) {
    consume(MOP_EXPANDER_DONE_CHECK);
    for (u32 i = 0; i < 9; i++) MOP_CFG_WORD(i) = words[i];
}

static u32 finish(u32 gpr) {
    tensix_sync();
    return GPR(gpr);
}

static const u32 all_seven[] = {0, 3, ADD(5, C1), ADD(1, C1), ADD(2, C2), ADD(3, C3), ADD(4, C5), ADD(6, C1), ADD(7, C2)};
static const u32 ordered[] = {0, 1, DOUBLE(1), ADD(1, C1), TT_NOP, TT_NOP, TT_NOP, ADD(1, C3), ADD(1, C5)};
static const u32 nested[] = {3, 2, ADD(1, C1), DOUBLE(1), ADD(1, C1), DOUBLE(1), TT_NOP, ADD(1, C5), ADD(1, C3)};
static const u32 alternating[] = {2, 2, TT_NOP, TT_NOP, TT_NOP, ADD(1, C1), DOUBLE(1), ADD(1, C5), ADD(1, C3)};
#define AGAIN TT_REPLAY(0, 2, 0, 0)
static const u32 replaying[] = {1, 4, TT_NOP, TT_NOP, TT_NOP, AGAIN, TT_NOP, AGAIN, AGAIN};

void main(void) {
    for (u32 i = 1; i <= 7; i++) set_gpr(i, 0);
    set_gpr(C1, 1);
    set_gpr(C2, 2);
    set_gpr(C3, 3);
    set_gpr(C5, 5);
    configure(all_seven);
    push(TT_MOP_CFG(0xA5A5));
    push(TT_MOP0(31, 0x00FF));
    tensix_sync();
    for (u32 i = 1; i <= 7; i++) RESULT[i] = GPR(i);
    push(TT_MOP_CFG(0));

    set_gpr(1, 1);
    configure(ordered);
    push(TT_MOP0(5, 0x13));
    RESULT[8] = finish(1);

    set_gpr(1, 0);
    configure(nested);
    push(TT_MOP1);
    RESULT[9] = finish(1);

    set_gpr(1, 0);
    configure(alternating);
    push(TT_MOP1);
    RESULT[10] = finish(1);

    set_gpr(1, 0);
    configure(replaying);
    push(TT_REPLAY(0, 2, 0, 1));
    push(ADD(1, C1));
    push(DOUBLE(1));
    push(TT_MOP1);
    RESULT[11] = finish(1);
    done();
}
