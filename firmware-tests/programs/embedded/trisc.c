/* TRISC0, 1 and 2 of the embedded firmware, one source with THREAD = 0..2.
 * Sources: [spec: boot-and-sync 3, 7.2]; the wait after reset is 600 ticks of the wall clock.
 * TRISC1 keeps no circular-buffer table. */
#include "fw.h"
#include "tensix_words.h"

enum { SETTLE_TICKS = 600, GPR_COUNT = 64, STREAM_COUNT = 64 };
#define OWN_SIGNAL (MAILBOXES->sync.trisc[THREAD])

static u64 wall_clock(void) {
    u32 low = WALL_CLOCK_L; /* latches the high half */
    consume(low);
    return ((u64)WALL_CLOCK_H << 32) | low;
}

#if THREAD == 0
/* Circular-buffer credits of every stream back to zero. */
static void clear_stream_credits(void) {
    for (u32 stream = 0; stream < STREAM_COUNT; stream++) {
        STREAM_TILES_RECEIVED(stream) = 0;
        STREAM_TILES_ACKED(stream) = 0;
    }
}
#endif

int main(void) {
    for (u32 i = 0; i < GPR_COUNT; i++) GPR(i) = 0;
    PRNG_SEED = 0;
    u64 settled = wall_clock() + SETTLE_TICKS;
    while (wall_clock() < settled) {}
    OWN_SIGNAL = SYNC_DONE;
    for (;;) {
        fence();
        u8 signal = OWN_SIGNAL;
#if THREAD == 0
        if (signal == SYNC_INIT_SYNC_REGISTERS) {
            clear_stream_credits();
            OWN_SIGNAL = SYNC_DONE;
        }
#endif
        if (signal != SYNC_GO) continue;
        const volatile struct launch_msg *launch = current_launch();
#if THREAD != 1
        set_up_circular_buffers(launch, 4);
#endif
        set_argument_pointers(launch, CORE_TRISC0 + THREAD);
        run_kernel(launch, CORE_TRISC0 + THREAD);
        tensix_sync();
        OWN_SIGNAL = SYNC_DONE;
    }
}
