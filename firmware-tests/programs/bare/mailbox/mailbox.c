/* Hardware mailboxes, one value in flight at a time.
 * Phase 1, BRISC <-> TRISC0, 16 rounds: BRISC sends i, TRISC0 answers 3 i + 1. BRISC adds the answers:
 *   sum over i < 16 of 3 i + 1 = 376.
 * Phase 2, ring BRISC -> TRISC0 -> TRISC1 -> TRISC2 -> BRISC, 8 rounds: each TRISC adds 1, 10, 100 to what it passes on,
 *   so i returns as i + 111; sum over i < 8 = 28 + 888 = 916.
 * Results  BRISC 376, 916;  TRISC1 and TRISC2 number of values passed on, 8.
 * Source: [spec: boot-and-sync 5.4]. */
#include "bare.h"

enum { PAIRS = 16, LAPS = 8 };

#ifdef ROLE_BRISC
void main(void) {
    u32 sum = 0;
    for (u32 i = 0; i < PAIRS; i++) {
        MAILBOX(PEER_TRISC0) = i;
        sum += MAILBOX(PEER_TRISC0);
    }
    RESULT[1] = sum;
    sum = 0;
    for (u32 i = 0; i < LAPS; i++) {
        MAILBOX(PEER_TRISC0) = i;
        sum += MAILBOX(PEER_TRISC2);
    }
    RESULT[2] = sum;
    done();
}
#endif

#ifdef ROLE_TRISC0
void main(void) {
    for (u32 i = 0; i < PAIRS; i++) MAILBOX(PEER_BRISC) = 3 * MAILBOX(PEER_BRISC) + 1;
    for (u32 i = 0; i < LAPS; i++) MAILBOX(PEER_TRISC1) = MAILBOX(PEER_BRISC) + 1;
    done();
}
#endif

#ifdef ROLE_TRISC1
void main(void) {
    for (u32 i = 0; i < LAPS; i++) MAILBOX(PEER_TRISC2) = MAILBOX(PEER_TRISC0) + 10;
    RESULT[1] = LAPS;
    done();
}
#endif

#ifdef ROLE_TRISC2
void main(void) {
    for (u32 i = 0; i < LAPS; i++) MAILBOX(PEER_BRISC) = MAILBOX(PEER_TRISC1) + 100;
    RESULT[1] = LAPS;
    done();
}
#endif
