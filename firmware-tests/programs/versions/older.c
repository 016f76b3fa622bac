/* Firmware of another version: BRISC's begins elsewhere, and its mailbox block, at 0x60, has its fields elsewhere. It is
 * of the shape that ttnn 0.71.2 has, with the parts that a debugger asks for; the rest is left out or room.
 * Results  none: it waits for ever. Source: [spec: boot-and-sync 1.4]; [hdr: hw/inc/hostdev/dev_msgs.h] of that version. */
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

struct rta_offset_t {
    u16 rta_offset, crta_offset;
};

struct kernel_config_msg_t {
    u32 kernel_config_base[4];
    u16 sem_offset[4];
    u16 local_cb_offset, remote_cb_offset;
    struct rta_offset_t rta_offset[5];
    u8 mode, room_0[3];
    u32 kernel_text_offset[5];
    u64 local_cb_mask;
    u8 brisc_noc_id, brisc_noc_mode, min_remote_cb_start_index, exit_erisc_kernel;
    u32 host_assigned_id, enables;
    u16 watcher_kernel_ids[5], ncrisc_kernel_size16;
    u8 sub_device_origin_x, sub_device_origin_y, room_1[5], preload;
};

struct launch_msg_t {
    struct kernel_config_msg_t kernel_config;
};

struct go_msg_t {
    union {
        u32 all;
        struct {
            u8 dispatch_message_offset, master_x, master_y, signal;
        };
    };
};

struct mailboxes_t {
    u32 ncrisc_halt[2];
    union {
        u32 all;
        struct {
            u8 dm1, trisc0, trisc1, trisc2;
        };
    } subordinate_sync;
    volatile u32 launch_msg_rd_ptr;
    struct launch_msg_t launch[8];
    struct go_msg_t go_messages[9];
    u32 go_message_index;
    struct {
        u32 enable;
        struct {
            u8 waypoint[4];
        } debug_waypoint[5];
    } watcher;
    struct {
        u32 room[494];
        u32 core_magic_number;
    } core_info;
};

void main(void) {
    const struct mailboxes_t *boxes = (const struct mailboxes_t *)0x60;
    while (boxes->launch_msg_rd_ptr < 8) {
    }
}
