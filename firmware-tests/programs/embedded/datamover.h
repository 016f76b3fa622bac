/* What BRISC and NCRISC share: bank tables, tile coordinates, software copies of the NoC counters.
 * The tables lie densely packed in L1 scratch in this order, for 7 DRAM banks and 140 L1 banks
 * [spec: boot-and-sync 1.6]; the linker script keeps the order in local RAM. */
#ifndef DATAMOVER_H
#define DATAMOVER_H
#include "fw.h"

enum { NUM_NOCS = 2, NUM_DRAM_BANKS = 7, NUM_L1_BANKS = 140 };
#define TABLE(order) __attribute__((section(".bss.banktables." order)))
TABLE("0") u16 dram_bank_to_noc_xy[NUM_NOCS][NUM_DRAM_BANKS];
TABLE("1") u16 l1_bank_to_noc_xy[NUM_NOCS][NUM_L1_BANKS];
TABLE("2") i32 bank_to_dram_offset[NUM_DRAM_BANKS];
TABLE("3") i32 bank_to_l1_offset[NUM_L1_BANKS];
TABLE("4") u8 worker_logical_col_to_virtual_col[20];
TABLE("5") u8 worker_logical_row_to_virtual_row[12];

/* NCRISC's argument pointers (0xFFB00034) and cb_interface (0xFFB00508) leave little room between them: the rest goes
 * below the first and behind the second. */
#ifdef ROLE_NCRISC
#define LOW __attribute__((section(".bss.low")))
#define TAIL __attribute__((section(".bss.tail")))
#else
#define LOW
#define TAIL
#endif

/* NoC requests issued or acknowledged so far, as the barriers of kernels compare them. */
LOW u32 noc_reads_num_issued[NUM_NOCS];
LOW u32 noc_nonposted_writes_num_issued[NUM_NOCS], noc_nonposted_writes_acked[NUM_NOCS];
LOW u32 noc_nonposted_atomics_acked[NUM_NOCS];
LOW u32 noc_posted_writes_num_issued[NUM_NOCS];
LOW u8 my_x[NUM_NOCS], my_y[NUM_NOCS];
TAIL u8 my_logical_x_, my_logical_y_, my_relative_x_, my_relative_y_, noc_index;
volatile u32 *sem_l1_base[MEMORY_KINDS];

static inline void copy_words(volatile u32 *to, const volatile u32 *from, u32 bytes) {
    for (u32 i = 0; i < bytes / 4; i++) to[i] = from[i];
}

static inline void load_bank_tables(void) {
    copy_words((volatile u32 *)&dram_bank_to_noc_xy[0][0], (const volatile u32 *)SCRATCH_BANK_TABLES, 1176);
    copy_words((volatile u32 *)&worker_logical_col_to_virtual_col[0], (const volatile u32 *)SCRATCH_COORD_MAPS, 32);
}

/* NOC_ID_LOGICAL: x in bits 5:0, y in bits 11:6. */
static inline void read_coordinates(void) {
    for (u32 noc = 0; noc < NUM_NOCS; noc++) {
        u32 id = NIU_REG(noc, NOC_ID_LOGICAL);
        my_x[noc] = id & 0x3F;
        my_y[noc] = (id >> 6) & 0x3F;
    }
    my_logical_x_ = REG8(0xBBB);
    my_logical_y_ = REG8(0xBBC);
}

static inline void sync_noc_counters(u32 noc) {
    noc_reads_num_issued[noc] = NIU_REG(noc, NIU_MST_RD_RESP_RECEIVED);
    noc_nonposted_writes_num_issued[noc] = NIU_REG(noc, NIU_MST_NONPOSTED_WR_REQ_SENT);
    noc_nonposted_writes_acked[noc] = NIU_REG(noc, NIU_MST_WR_ACK_RECEIVED);
    noc_nonposted_atomics_acked[noc] = NIU_REG(noc, NIU_MST_ATOMIC_RESP_RECEIVED);
    noc_posted_writes_num_issued[noc] = NIU_REG(noc, NIU_MST_POSTED_WR_REQ_SENT);
}

static inline void set_data_mover_pointers(const volatile struct launch_msg *launch, int core) {
    set_argument_pointers(launch, core);
    for (int kind = 0; kind < MEMORY_KINDS; kind++)
        sem_l1_base[kind] = (volatile u32 *)(launch->kernel_config_base[kind] + launch->sem_offset[kind]);
    noc_index = core == CORE_BRISC ? launch->brisc_noc_id : 1 - launch->brisc_noc_id;
    my_relative_x_ = my_logical_x_ - launch->sub_device_origin_x;
    my_relative_y_ = my_logical_y_ - launch->sub_device_origin_y;
}
#endif
