/* What the hazard kernels share: circular-buffer calls under the names that kernels use, dvalid encoders.
 * Sources: [spec: boot-and-sync 3, 5]; [isa-wh: SETDVALID.md, CLEARDVALID.md]. */
#ifndef HAZARD_H
#define HAZARD_H
#include "kernel.h"

enum { MATH_PACK = 1 };

#define TT_SETDVALID(banks) TT_WORD(0x57, (banks))
#define TT_CLEARDVALID(banks) TT_WORD(0x36, (banks) << 22)
#define TT_CLEARDVALID_RESET TT_WORD(0x36, 1)

static inline u32 cb_pages(u32 cb) {
    return (STREAM_TILES_RECEIVED(cb) - STREAM_TILES_ACKED(cb)) & STREAM_COUNT_MASK;
}
static inline void cb_reserve_back(u32 cb, u32 pages, u32 capacity) {
    while (cb_pages(cb) + pages > capacity) {}
}
static inline void cb_push_back(u32 cb, u32 pages) {
    fence();
    STREAM_TILES_RECEIVED(cb) = STREAM_TILES_RECEIVED(cb) + pages;
}
static inline void cb_wait_front(u32 cb, u32 pages) {
    while (cb_pages(cb) < pages) {}
}
static inline void cb_pop_front(u32 cb, u32 pages) {
    fence();
    STREAM_TILES_ACKED(cb) = STREAM_TILES_ACKED(cb) + pages;
}

/* Time passes. */
static inline void spend(u32 rounds) {
    for (u32 i = 0; i < rounds; i++) __asm__ volatile("nop");
}
#endif
