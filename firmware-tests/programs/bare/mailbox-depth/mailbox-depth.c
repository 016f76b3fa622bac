/* A mailbox holds four values, keeps their order, and tells whether it holds one.
 * BRISC asks TRISC1's outgoing mailbox (0), pushes 11, 22, 33, 44 and a fifth value 55 that has to wait in the memory
 * system, and raises flag 0 before the fifth. TRISC1 asks (1), pops five times, asks again (0).
 * Results  BRISC  query 0
 *          TRISC1 query before popping 1; the values 11, 22, 33, 44, 55; query after popping 0
 * Source: [spec: boot-and-sync 5.4]. */
#include "bare.h"

#ifdef ROLE_BRISC
void main(void) {
    RESULT[1] = MAILBOX_QUERY(PEER_TRISC1);
    for (u32 value = 11; value <= 44; value += 11) MAILBOX(PEER_TRISC1) = value;
    set_flag(0, 1);
    MAILBOX(PEER_TRISC1) = 55;
    done();
}
#endif

#ifdef ROLE_TRISC1
void main(void) {
    await_flag(0, 1);
    while (MAILBOX_QUERY(PEER_BRISC) == 0) {} /* emitted is not yet arrived */
    RESULT[1] = MAILBOX_QUERY(PEER_BRISC);
    for (u32 i = 0; i < 5; i++) RESULT[2 + i] = MAILBOX(PEER_BRISC);
    RESULT[7] = MAILBOX_QUERY(PEER_BRISC);
    done();
}
#endif
