/* REPLAY: record without and with execution, play back, wrap around the 32 slots. GPR 1 is the result, 9 = 1, 10 = 3.
 * a) from 5: record (no execution) +1, *2, +3 in slots 4..6: still 5; play twice: 5 -> 15 -> 35.
 * b) from 1: record with execution *2, +1 in slots 0..1: 3; play three times: 7, 15, 31.
 * c) from 2: record four in slots 30, 31, 0, 1: +1, +1, *2, +3; play 4 from 30: 11; then 2 from slot 0 only (*2, +3): 25;
 *    slots 4..6 of a) are untouched: play 3 from 4: (25 + 1) * 2 + 3 = 55.
 * Results  5, 35, 3, 31, 2, 11, 25, 55.
 * Source: [isa-wh: TensixCoprocessor/REPLAY.md]; [spec: boot-and-sync 5.10]. */
#include "bare.h"

enum { R = 1, C1 = 9, C3 = 10 };
#define PLUS1  TT_ADDDMAREG(R, C1, R)
#define PLUS3  TT_ADDDMAREG(R, C3, R)
#define TWICE  TT_ADDDMAREG(R, R, R)
#define RECORD(start, count)     TT_REPLAY(start, count, 0, 1)
#define RECORD_RUN(start, count) TT_REPLAY(start, count, 1, 1)
#define PLAY(start, count)       TT_REPLAY(start, count, 0, 0)

static u32 value(void) {
    tensix_sync();
    return GPR(R);
}

void main(void) {
    set_gpr(C1, 1);
    set_gpr(C3, 3);
    set_gpr(R, 5);
    push(RECORD(4, 3));
    push(PLUS1);
    push(TWICE);
    push(PLUS3);
    RESULT[1] = value();
    push(PLAY(4, 3));
    push(PLAY(4, 3));
    RESULT[2] = value();

    set_gpr(R, 1);
    push(RECORD_RUN(0, 2));
    push(TWICE);
    push(PLUS1);
    RESULT[3] = value();
    for (u32 i = 0; i < 3; i++) push(PLAY(0, 2));
    RESULT[4] = value();

    set_gpr(R, 2);
    push(RECORD(30, 4));
    push(PLUS1);
    push(PLUS1);
    push(TWICE);
    push(PLUS3);
    RESULT[5] = value();
    push(PLAY(30, 4));
    RESULT[6] = value();
    push(PLAY(0, 2));
    RESULT[7] = value();
    push(PLAY(4, 3));
    RESULT[8] = value();
    done();
}
