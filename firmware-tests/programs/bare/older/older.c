/* Firmware of another version: BRISC's begins elsewhere, and its mailbox block, at 0x60, has its fields elsewhere. It is
 * of the shape that ttnn 0.71.2 has, with the parts that a debugger asks for; the rest is left out or room.
 * Results  none: it waits for ever. Source: [spec: boot-and-sync 1.4]; [hdr: hw/inc/hostdev/dev_msgs.h] of that version. */
#include <stdint.h>

struct rta_offset_t {
    uint16_t rta_offset, crta_offset;
};

struct kernel_config_msg_t {
    uint32_t kernel_config_base[4];
    uint16_t sem_offset[4];
    uint16_t local_cb_offset, remote_cb_offset;
    struct rta_offset_t rta_offset[5];
    uint8_t mode, room_0[3];
    uint32_t kernel_text_offset[5];
    uint64_t local_cb_mask;
    uint8_t brisc_noc_id, brisc_noc_mode, min_remote_cb_start_index, exit_erisc_kernel;
    uint32_t host_assigned_id, enables;
    uint16_t watcher_kernel_ids[5], ncrisc_kernel_size16;
    uint8_t sub_device_origin_x, sub_device_origin_y, room_1[5], preload;
};

struct launch_msg_t {
    struct kernel_config_msg_t kernel_config;
};

struct go_msg_t {
    union {
        uint32_t all;
        struct {
            uint8_t dispatch_message_offset, master_x, master_y, signal;
        };
    };
};

struct mailboxes_t {
    uint32_t ncrisc_halt[2];
    union {
        uint32_t all;
        struct {
            uint8_t dm1, trisc0, trisc1, trisc2;
        };
    } subordinate_sync;
    volatile uint32_t launch_msg_rd_ptr;
    struct launch_msg_t launch[8];
    struct go_msg_t go_messages[9];
    uint32_t go_message_index;
    struct {
        uint32_t enable;
        struct {
            uint8_t waypoint[4];
        } debug_waypoint[5];
    } watcher;
    struct {
        uint32_t room[494];
        uint32_t core_magic_number;
    } core_info;
};

void main(void) {
    const struct mailboxes_t *boxes = (const struct mailboxes_t *)0x60;
    while (boxes->launch_msg_rd_ptr < 8) {
    }
}
