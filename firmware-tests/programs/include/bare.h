/* Results of bare programs. Every core has a block of 256 words in L1: word 0 becomes DONE_MAGIC when the core has finished,
 * results start at word 1. Case files name the blocks by address. */
#ifndef BARE_H
#define BARE_H
#include "tile.h"
#include "tensix_words.h"

#if defined(ROLE_BRISC)
#define CORE 0
#elif defined(ROLE_TRISC0)
#define CORE 1
#elif defined(ROLE_TRISC1)
#define CORE 2
#elif defined(ROLE_TRISC2)
#define CORE 3
#elif defined(ROLE_NCRISC)
#define CORE 4
#endif

/* BRISC 0x20000, TRISC0 0x20400, TRISC1 0x20800, TRISC2 0x20C00, NCRISC 0x21000. */
#define RESULT_OF(core) ((volatile u32 *)(0x20000 + 0x400 * (core)))
#define RESULT RESULT_OF(CORE)
#define DONE_MAGIC 0x600D600Du

/* Words by which the cores of one program signal each other through L1; zero at start. */
#define FLAG(index) (*(volatile u32 *)(0x22000 + 0x10 * (index)))

/* The last thing a core does. */
static inline void done(void) {
    fence();
    RESULT[0] = DONE_MAGIC;
}

static inline void await_flag(u32 index, u32 value) {
    while (FLAG(index) != value) fence();
}

static inline void set_flag(u32 index, u32 value) {
    fence();
    FLAG(index) = value;
}

/* Writes a GPR of the own thread and makes sure the store has been processed before any later push uses it. */
static inline void set_gpr(u32 index, u32 value) {
    GPR(index) = value;
    while (GPR(index) != value) {}
}

void main(void);
#endif
