/* What all five cores of the embedded firmware share: the kernel call, argument pointers, circular-buffer set-up.
 * Written from the protocol facts in [spec: boot-and-sync 1, 3, 7]; the names of exported variables are the ones kernels use. */
#ifndef FW_H
#define FW_H
#include "mailbox.h"

/* Placed by the linker script at the addresses hand-written kernels expect [spec: boot-and-sync 7.4]. */
extern volatile u32 *rta_l1_base;  /* this core's unique runtime arguments */
extern volatile u32 *crta_l1_base; /* this core's common runtime arguments */
extern struct cb_interface_entry cb_interface[CB_COUNT];

/* Start of the kernel-config block of the current launch (index 0: Tensix cores). */
static inline u32 config_base(const volatile struct launch_msg *launch) { return launch->kernel_config_base[0]; }

static inline void set_argument_pointers(const volatile struct launch_msg *launch, int core) {
    rta_l1_base = (volatile u32 *)(config_base(launch) + launch->rta_offset[core].rta);
    crta_l1_base = (volatile u32 *)(config_base(launch) + launch->rta_offset[core].crta);
}

/* Calls the kernel of `core`. Text begins with its entry point. */
static inline void run_kernel(const volatile struct launch_msg *launch, int core) {
    ((void (*)(void))(config_base(launch) + launch->kernel_text_offset[core]))();
}

/* Fills cb_interface for every buffer named by the mask; others keep what they had. `shift` is 0 for data movers
 * (bytes) and 4 for TRISCs (16-byte units). Configuration of buffer i lies at 16 i from local_cb_offset, so the upper
 * 32 begin at +0x200 [spec: boot-and-sync 7.1]. */
static inline void set_up_circular_buffers(const volatile struct launch_msg *launch, u32 shift) {
    const volatile struct cb_config *config =
        (const volatile struct cb_config *)(config_base(launch) + launch->local_cb_offset);
    for (u32 half = 0; half < 2; half++) {
        u32 mask = launch->local_cb_mask[half];
        for (u32 index = half * 32; mask != 0; index++, mask >>= 1) {
            if ((mask & 1) == 0) continue;
            struct cb_interface_entry *cb = &cb_interface[index];
            u32 address = config[index].address >> shift;
            cb->fifo_size = config[index].size >> shift;
            cb->fifo_limit = address + cb->fifo_size;
            cb->fifo_num_pages = config[index].num_pages;
            cb->fifo_page_size = config[index].page_size >> shift;
            cb->fifo_rd_ptr = address;
            cb->fifo_wr_ptr = address;
            cb->tiles_acked = 0;
            cb->tiles_received = 0;
            cb->fifo_wr_tile_ptr = 0;
        }
    }
}

/* The launch slot the host wrote last. */
static inline const volatile struct launch_msg *current_launch(void) {
    return &MAILBOXES->launch[MAILBOXES->launch_msg_rd_ptr];
}
#endif
