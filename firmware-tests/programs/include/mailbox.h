/* The launch mailbox in L1: layout, signal values and the L1 map around it.
 * Layout facts: [spec: boot-and-sync 1.2, 1.4, 1.5]; only the fields this firmware set touches are named, the rest is padding.
 * The static assertions below pin every offset to the fact sheet. */
#ifndef MAILBOX_H
#define MAILBOX_H
#include "tile.h"

#define MAILBOX_BASE          0x60
#define SCRATCH_INIT_BRISC    0xA080  /* local-memory init images, one per core */
#define SCRATCH_INIT_NCRISC   0xC080
#define SCRATCH_INIT_TRISC0   0xE080
#define SCRATCH_INIT_TRISC1   0xF080
#define SCRATCH_INIT_TRISC2   0x10080
#define SCRATCH_BANK_TABLES   0x13080
#define SCRATCH_COORD_MAPS    0x13880
#define L1_ZEROS              0x34E0
#define L1_ZEROS_BYTES        0x200
#define L1_ATOMIC_RETURN      0x4     /* where NoC atomics deliver their old value */

enum go_signal {
    RUN_MSG_DONE = 0x00, RUN_MSG_INIT = 0x40, RUN_MSG_GO = 0x80, RUN_MSG_RESET_READ_PTR = 0xC0,
    RUN_MSG_RESET_READ_PTR_FROM_HOST = 0xE0, RUN_MSG_REPLAY_TRACE = 0xF0,
};
enum subordinate_signal {
    SYNC_DONE = 0x00, SYNC_LOAD = 0x01, SYNC_INIT_SYNC_REGISTERS = 0x03, SYNC_INIT = 0x40, SYNC_GO = 0x80,
};
#define SYNC_ALL_INIT 0x40404040u

enum { DISPATCH_MODE_DEV = 0, DISPATCH_MODE_HOST = 1 };
enum { ENABLE_BRISC = 1, ENABLE_NCRISC = 2, ENABLE_TRISC = 4 };
enum { PRELOAD_FLAG = 0x80 };
enum { CORE_BRISC = 0, CORE_NCRISC = 1, CORE_TRISC0 = 2, CORE_TRISC1 = 3, CORE_TRISC2 = 4, CORE_COUNT = 5 };
enum { LAUNCH_SLOTS = 8, CB_COUNT = 64, MEMORY_KINDS = 4 };

struct args_offset { u16 rta, crta; };

struct launch_msg {
    u32 kernel_config_base[MEMORY_KINDS];
    u16 sem_offset[MEMORY_KINDS];
    u16 local_cb_offset, remote_cb_offset;
    struct args_offset rta_offset[CORE_COUNT];
    u8 mode, pad_31;
    u16 pad_32;
    u32 kernel_text_offset[CORE_COUNT];
    u32 kernel_text_size[CORE_COUNT];
    u32 pad_5c;
    u32 local_cb_mask[2];
    u8 brisc_noc_id, brisc_noc_mode, min_remote_cb_start_index, pad_6b;
    u32 host_assigned_id, enables, reload_table_addr;
    u8 pad_78[0x84 - 0x78];
    u8 sub_device_origin_x, sub_device_origin_y;
    u8 pad_86[0x8F - 0x86];
    u8 preload;
};

struct go_msg { u8 dispatch_message_offset, master_x, master_y, signal; };

struct subordinate_sync { u8 dm1, trisc[3]; };

struct mailboxes {
    u32 resume_addr, stack_save;
    struct subordinate_sync sync;
    u32 launch_msg_rd_ptr;
    struct launch_msg launch[LAUNCH_SLOTS];
    struct go_msg go[9];
    u32 pad_4b4;
    u64 link_status_timestamp;
    u32 go_message_index;
};

#define MAILBOXES ((volatile struct mailboxes *)MAILBOX_BASE)
#define SYNC_WORD REG32(0x68)

#define PIN(type, field, offset) \
    _Static_assert(__builtin_offsetof(struct type, field) == (offset), #type "." #field)
PIN(launch_msg, sem_offset, 0x10);
PIN(launch_msg, local_cb_offset, 0x18);
PIN(launch_msg, rta_offset, 0x1C);
PIN(launch_msg, mode, 0x30);
PIN(launch_msg, kernel_text_offset, 0x34);
PIN(launch_msg, local_cb_mask, 0x60);
PIN(launch_msg, brisc_noc_id, 0x68);
PIN(launch_msg, min_remote_cb_start_index, 0x6A);
PIN(launch_msg, enables, 0x70);
PIN(launch_msg, sub_device_origin_x, 0x84);
PIN(launch_msg, preload, 0x8F);
PIN(mailboxes, sync, 0x08);
PIN(mailboxes, launch_msg_rd_ptr, 0x0C);
PIN(mailboxes, launch, 0x10);
PIN(mailboxes, go, 0x490);
PIN(mailboxes, go_message_index, 0x4C0);
_Static_assert(sizeof(struct launch_msg) == 0x90, "launch slot is 0x90 bytes");

/* Circular-buffer bookkeeping a kernel finds in local RAM, 32 bytes per buffer. Data movers keep bytes, TRISC0 and
 * TRISC2 keep units of 16 bytes [spec: boot-and-sync 7.1]. */
struct cb_interface_entry {
    u32 fifo_size, fifo_limit, fifo_page_size, fifo_num_pages, fifo_rd_ptr, fifo_wr_ptr;
    u16 tiles_acked, tiles_received;
    u32 fifo_wr_tile_ptr;
};
_Static_assert(sizeof(struct cb_interface_entry) == 32, "one CB entry is 32 bytes");

/* One circular buffer as the host writes it into the kernel-config block. */
struct cb_config { u32 address, size, num_pages, page_size; };
#endif
