/* BRISC of the embedded firmware: brings the tile up, releases the other four cores, then serves launch messages.
 * Not modelled: remote circular buffers, dynamic NoC mode, watcher, profiler.
 * Sources: [spec: boot-and-sync 3] for the boot order, 4 for the pushes, 7 for launches. */
#include "datamover.h"
#include "tensix_words.h"

/* In .data on purpose: its value comes through the init image the loader stages at 0xA080. */
volatile struct subordinate_sync *subordinate_sync = (volatile struct subordinate_sync *)0x68;

enum { NCRISC_ENTRY = 0x5CE0, TRISC0_ENTRY = 0x66E0, TRISC1_ENTRY = 0x70E0, TRISC2_ENTRY = 0x7AE0 };
enum { CLOCK_GATING_ENABLE = 1, INITIATOR_INLINE = 3, DISPATCH_STREAM = 48 };
enum { SCRUBBER_WORD = 3, SCRUBBER_ENABLE = 1, SCRUB_ON_ERROR = 2, SCRUBBER_DELAY = 0x100 << 3 };

static void enable_clock_gating(void) {
    DEST_CG_CTRL = 0;
    TDMA_CLK_GATE_EN = 0x3F;
    for (u32 noc = 0; noc < NUM_NOCS; noc++) { /* other bits of both words must survive */
        NIU_REG(noc, NIU_CFG_0) = NIU_REG(noc, NIU_CFG_0) | CLOCK_GATING_ENABLE;
        NIU_REG(noc, ROUTER_CFG_0) = NIU_REG(noc, ROUTER_CFG_0) | CLOCK_GATING_ENABLE;
    }
}

static void set_reset_pcs(void) {
    NCRISC_RESET_PC = NCRISC_ENTRY;
    TRISC0_RESET_PC = TRISC0_ENTRY;
    TRISC1_RESET_PC = TRISC1_ENTRY;
    TRISC2_RESET_PC = TRISC2_ENTRY;
    TRISC_RESET_PC_OVERRIDE = 7;
    NCRISC_RESET_PC_OVERRIDE = 1;
}

/* The nine words every kernel relies on: Dst invalid, all SFPU lanes on, LReg11 = -1.0, four semaphores at 0 of 1;
 * and between them the ECC scrubber of the register files. */
static void initialise_coprocessor(void) {
    push(TT_WORD(0x10, 3 << 19));                              /* ZEROACC all of Dst */
    push(TT_WORD(0x8A, (3 << 12) | 0xA));                      /* SFPENCC: predication on, every lane enabled */
    push(TT_NOP);
    push(TT_WORD(0x71, 0xBF80));                               /* SFPLOADI LReg0 = -1.0 (BF16) */
    push(TT_WORD(0x91, 11 << 4));                              /* SFPCONFIG LReg11 = LReg0 */
    CFG_WORD(SCRUBBER_WORD) = (CFG_WORD(SCRUBBER_WORD) & ~0x3FF8u) | SCRUBBER_DELAY;
    CFG_WORD(SCRUBBER_WORD) = CFG_WORD(SCRUBBER_WORD) | SCRUB_ON_ERROR;
    CFG_WORD(SCRUBBER_WORD) = CFG_WORD(SCRUBBER_WORD) | SCRUBBER_ENABLE;
    push(TT_SEMINIT(1, 0, 1 << 1));                            /* MATH_PACK */
    push(TT_SEMINIT(1, 0, 1 << 2));                            /* UNPACK_TO_DEST */
    push(TT_SEMINIT(1, 0, 1 << 7));                            /* MATH_DONE */
    push(TT_SEMINIT(1, 0, 1 << 4));                            /* PACK_DONE */
}

/* Gives each request initiator its standing fields: 0 and 2 write, 1 read, 3 inline writes and atomics. */
static void initialise_noc(void) {
    for (u32 noc = 0; noc < NUM_NOCS; noc++) {
        u32 own = ((u32)my_y[noc] << 6) | my_x[noc];
        for (u32 initiator = 0; initiator <= 2; initiator += 2) {
            NIU_CMD(noc, initiator, NOC_TARG_ADDR_MID) = 0;
            NIU_CMD(noc, initiator, NOC_RET_ADDR_MID) = 0;
            NIU_CMD(noc, initiator, NOC_TARG_ADDR_HI) = own;
        }
        NIU_CMD(noc, INITIATOR_INLINE, NOC_RET_ADDR_LO) = L1_ATOMIC_RETURN;
        NIU_CMD(noc, INITIATOR_INLINE, NOC_RET_ADDR_MID) = 0;
        NIU_CMD(noc, INITIATOR_INLINE, NOC_RET_ADDR_HI) = own;
        NIU_CMD(noc, 1, NOC_CTRL) = NOC_CMD_RD | NOC_CMD_RESP_MARKED | NOC_CMD_VC_STATIC | NOC_CMD_STATIC_VC(1);
        NIU_CMD(noc, 1, NOC_RET_ADDR_MID) = 0;
        NIU_CMD(noc, 1, NOC_TARG_ADDR_MID) = 0;
        NIU_CMD(noc, 1, NOC_RET_ADDR_HI) = own;
        for (u32 initiator = 0; initiator < 4; initiator++) NIU_CMD(noc, initiator, NOC_PACKET_TAG) = 0;
    }
}

/* Tells the dispatching tile that this one is done: a posted inline write of "+1" to a space counter of its overlay
 * stream, addressed by the go message [spec: boot-and-sync 7.3]. */
static void notify_dispatcher(u32 noc, const volatile struct go_msg *go) {
    while (NIU_CMD(noc, INITIATOR_INLINE, NOC_CMD_CTRL) != 0) {}
    u32 counter = (u32)&STREAM_REG(DISPATCH_STREAM + go->dispatch_message_offset, 270);
    NIU_CMD(noc, INITIATOR_INLINE, NOC_AT_DATA) = 1 << 6;
    NIU_CMD(noc, INITIATOR_INLINE, NOC_CTRL) =
        NOC_CMD_WR | NOC_CMD_WR_INLINE | NOC_CMD_VC_STATIC | NOC_CMD_STATIC_VC(1);
    NIU_CMD(noc, INITIATOR_INLINE, NOC_TARG_ADDR_LO) = counter;
    NIU_CMD(noc, INITIATOR_INLINE, NOC_TARG_ADDR_MID) = 0;
    NIU_CMD(noc, INITIATOR_INLINE, NOC_TARG_ADDR_HI) = ((u32)go->master_y << 6) | go->master_x;
    NIU_CMD(noc, INITIATOR_INLINE, NOC_AT_LEN_BE) = 0;
    NIU_CMD(noc, INITIATOR_INLINE, NOC_CMD_CTRL) = 1;
}

static volatile struct go_msg *current_go(void) { return &MAILBOXES->go[MAILBOXES->go_message_index]; }

static void wait_for_subordinates(void) {
    while (SYNC_WORD != 0) fence();
}

/* One launch, from the moment the go signal (or a preload flag) was seen to DONE. */
static void serve_launch(void) {
    volatile struct launch_msg *launch = (volatile struct launch_msg *)current_launch();
    u32 enables = launch->enables;
    if (enables & ENABLE_NCRISC) subordinate_sync->dm1 = SYNC_LOAD;
    set_data_mover_pointers(launch, CORE_BRISC);
    RISCV_IC_INVALIDATE = 0x1F;
    if (enables & ENABLE_TRISC) {
        while (subordinate_sync->trisc[0] != SYNC_DONE) fence(); /* stream registers still being cleared */
        for (int thread = 0; thread < 3; thread++) subordinate_sync->trisc[thread] = SYNC_GO;
    }
    sync_noc_counters(noc_index);
    if (enables & ENABLE_NCRISC) subordinate_sync->dm1 = SYNC_GO;
    if (enables & ENABLE_BRISC) {
        set_up_circular_buffers(launch, 0);
        run_kernel(launch, CORE_BRISC);
    }
    wait_for_subordinates();
    subordinate_sync->trisc[0] = SYNC_INIT_SYNC_REGISTERS;
    volatile struct go_msg *go = current_go();
    /* Read before DONE is visible: a fast host writes the next message into this slot right after it. */
    u32 mode = launch->mode;
    go->signal = RUN_MSG_DONE;
    if (mode == DISPATCH_MODE_DEV) {
        launch->enables = 0;
        launch->preload = 0;
        notify_dispatcher(noc_index, go);
        MAILBOXES->launch_msg_rd_ptr = (MAILBOXES->launch_msg_rd_ptr + 1) & (LAUNCH_SLOTS - 1);
    }
}

/* Idle: look at the go signal and, when there is none, at the preload flag of the next slot. */
_Noreturn static void serve_for_ever(void) {
    for (;;) {
        fence();
        volatile struct go_msg *go = current_go();
        u8 signal = go->signal;
        if (signal == RUN_MSG_GO || (current_launch()->preload & PRELOAD_FLAG)) {
            serve_launch();
        } else if (signal == RUN_MSG_RESET_READ_PTR_FROM_HOST) {
            MAILBOXES->launch_msg_rd_ptr = 0; /* until the host takes the signal away */
        } else if (signal == RUN_MSG_RESET_READ_PTR || signal == RUN_MSG_REPLAY_TRACE) {
            MAILBOXES->launch_msg_rd_ptr = 0;
            go->signal = RUN_MSG_DONE;
            notify_dispatcher(noc_index, go);
        }
    }
}

int main(void) {
    load_bank_tables();
    MAILBOXES->launch_msg_rd_ptr = 0;
    read_coordinates();
    enable_clock_gating();
    set_reset_pcs();
    for (u32 i = 0; i < L1_ZEROS_BYTES; i += 4) REG32(L1_ZEROS + i) = 0;
    RISCV_IC_INVALIDATE = 0x1F;
    initialise_coprocessor();
    MAILBOXES->resume_addr = 0;
    SYNC_WORD = SYNC_ALL_INIT;
    fence();
    SOFT_RESET_0 = 0;
    wait_for_subordinates();
    MAILBOXES->go[0].signal = RUN_MSG_DONE;
    initialise_noc();
    sync_noc_counters(noc_index);
    subordinate_sync->trisc[0] = SYNC_INIT_SYNC_REGISTERS;
    serve_for_ever();
}
