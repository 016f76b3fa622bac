/* Semaphores saturate: at 15 upwards whatever their maximum, at 0 downwards; one instruction may name several.
 * TRISC1: SEMINIT max 3, initial 2 on semaphores 2 and 5; 20 SEMPOST on both; RISC posts once more on 5  -> 15, 15
 *         then 18 SEMGET on both, RISC gets once more on 2                                           -> 0, 0
 *         then 7 posts on 5 only by RISC                                                             -> 0, 7
 * Source: [isa-bh: SEMPOST.md, SEMGET.md, SyncUnit.md]; [spec: boot-and-sync 5.5]. */
#include "bare.h"

enum { A = 2, B = 5 };
#define BOTH ((1 << A) | (1 << B))

void main(void) {
    push(TT_SEMINIT(3, 2, BOTH));
    tensix_sync();
    RESULT[1] = SEMAPHORE(A);
    RESULT[2] = SEMAPHORE(B);
    for (u32 i = 0; i < 20; i++) push(TT_SEMPOST(BOTH));
    tensix_sync();
    SEMAPHORE(B) = 0;
    RESULT[3] = SEMAPHORE(A);
    RESULT[4] = SEMAPHORE(B);
    for (u32 i = 0; i < 18; i++) push(TT_SEMGET(BOTH));
    tensix_sync();
    SEMAPHORE(A) = 1;
    RESULT[5] = SEMAPHORE(A);
    RESULT[6] = SEMAPHORE(B);
    for (u32 i = 0; i < 7; i++) SEMAPHORE(B) = 0;
    RESULT[7] = SEMAPHORE(A);
    RESULT[8] = SEMAPHORE(B);
    done();
}
