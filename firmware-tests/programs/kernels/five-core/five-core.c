/* Five-core kernel: two independent pipelines in one launch.
 *
 * Data movers: BRISC fills pages of circular buffer 0, NCRISC consumes them. Credits are the overlay stream registers of
 * stream 0: BRISC alone writes "tiles received", NCRISC alone "tiles acked", both modulo 2^17.
 *   Word i of the whole stream is seed + 3 i (i = 0 .. N-1, N = pages * page_words), hence
 *   sum = N seed + 3 N (N-1) / 2  modulo 2^32.
 *
 * TRISCs: in round i TRISC0 sends v = start + i to TRISC1 through the hardware mailbox and posts semaphore 3 as a Tensix
 * instruction; TRISC1 consumes the post (SEMWAIT, SEMGET) and sends 2 v + 1 to TRISC2; TRISC2 adds it up and posts
 * semaphore 5 by a RISC store, which TRISC0 takes before the next round.
 *   total = sum of 2 (start + i) + 1 = rounds (2 start + rounds)  modulo 2^32; both semaphores end at 0.
 *
 * Arguments    BRISC   pages, seed, buffer, page_words, capacity, result    -> result: pages
 *              NCRISC  pages, buffer, page_words, capacity, result          -> result: sum, pages
 *              TRISC0  rounds, start, result  -> result: rounds, semaphore 5, cb 0 rd_ptr in bytes
 *              TRISC1  rounds, result         -> result: rounds, semaphore 3
 *              TRISC2  rounds, result         -> result: total, cb 0 num_pages
 *              common  tag                    -> word before each result: tag + core index
 * Sources: [spec: boot-and-sync 5.3, 5.4, 5.5, 7]. */
#include "kernel.h"

enum { CB = 0, FORWARD = 3, BACKWARD = 5 };

static void finish(volatile u32 *result, u32 core) { result[-1] = common_arg(0) + core; }

#ifdef ROLE_BRISC
void kernel_main(void) {
    u32 pages = arg(0), value = arg(1), page_words = arg(3), capacity = arg(4), slot = 0;
    for (u32 page = 0; page < pages; page++) {
        while (((STREAM_TILES_RECEIVED(CB) - STREAM_TILES_ACKED(CB)) & STREAM_COUNT_MASK) >= capacity) {}
        volatile u32 *word = (volatile u32 *)arg(2) + slot * page_words;
        for (u32 i = 0; i < page_words; i++, value += 3) word[i] = value;
        fence(); /* the words before the credit */
        STREAM_TILES_RECEIVED(CB) = STREAM_TILES_RECEIVED(CB) + 1;
        slot = slot + 1 == capacity ? 0 : slot + 1;
    }
    volatile u32 *result = (volatile u32 *)arg(5);
    result[0] = pages;
    finish(result, CORE_BRISC);
}
#endif

#ifdef ROLE_NCRISC
void kernel_main(void) {
    u32 pages = arg(0), page_words = arg(2), capacity = arg(3), slot = 0, sum = 0;
    for (u32 page = 0; page < pages; page++) {
        while (((STREAM_TILES_RECEIVED(CB) - STREAM_TILES_ACKED(CB)) & STREAM_COUNT_MASK) == 0) {}
        fence(); /* the credit before the words */
        volatile u32 *word = (volatile u32 *)arg(1) + slot * page_words;
        for (u32 i = 0; i < page_words; i++) sum += word[i];
        fence();
        STREAM_TILES_ACKED(CB) = STREAM_TILES_ACKED(CB) + 1;
        slot = slot + 1 == capacity ? 0 : slot + 1;
    }
    volatile u32 *result = (volatile u32 *)arg(4);
    result[0] = sum;
    result[1] = pages;
    finish(result, CORE_NCRISC);
}
#endif

#ifdef ROLE_TRISC0
void kernel_main(void) {
    u32 rounds = arg(0), start = arg(1);
    push(TT_SEMINIT(15, 0, 1 << FORWARD));
    push(TT_SEMINIT(15, 0, 1 << BACKWARD));
    tensix_sync();
    for (u32 i = 0; i < rounds; i++) {
        MAILBOX(PEER_TRISC1) = start + i;
        push(TT_SEMPOST(1 << FORWARD));
        while (SEMAPHORE(BACKWARD) == 0) {}
        SEMAPHORE(BACKWARD) = 1; /* odd: get */
    }
    volatile u32 *result = (volatile u32 *)arg(2);
    result[0] = rounds;
    result[1] = SEMAPHORE(BACKWARD);
    result[2] = TRISC_CB_INTERFACE[CB].fifo_rd_ptr << 4;
    finish(result, CORE_TRISC0);
}
#endif

#ifdef ROLE_TRISC1
void kernel_main(void) {
    u32 rounds = arg(0);
    for (u32 i = 0; i < rounds; i++) {
        u32 value = MAILBOX(PEER_TRISC0);
        push(TT_SEMWAIT(BLOCK_SYNC, 1 << FORWARD, SEM_WHILE_ZERO));
        push(TT_SEMGET(1 << FORWARD));
        MAILBOX(PEER_TRISC2) = 2 * value + 1;
    }
    tensix_sync();
    volatile u32 *result = (volatile u32 *)arg(1);
    result[0] = rounds;
    result[1] = SEMAPHORE(FORWARD);
    finish(result, CORE_TRISC1);
}
#endif

#ifdef ROLE_TRISC2
void kernel_main(void) {
    u32 rounds = arg(0), total = 0;
    for (u32 i = 0; i < rounds; i++) {
        total += MAILBOX(PEER_TRISC1);
        SEMAPHORE(BACKWARD) = 0; /* even: post */
    }
    volatile u32 *result = (volatile u32 *)arg(1);
    result[0] = total;
    result[1] = TRISC_CB_INTERFACE[CB].fifo_num_pages;
    finish(result, CORE_TRISC2);
}
#endif
