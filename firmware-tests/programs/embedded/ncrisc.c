/* NCRISC of the embedded firmware: reports in, then runs its kernel when BRISC says so.
 * Sources: [spec: boot-and-sync 3, 7.2]. NCRISC reaches no Tensix register at all. */
#include "datamover.h"

/* Where BRISC tells this core what to do; comes through the init image the loader stages at 0xC080. */
volatile u8 *subordinate_sync = (volatile u8 *)0x68;

int main(void) {
    load_bank_tables();
    read_coordinates();
    *subordinate_sync = SYNC_DONE;
    for (;;) {
        u8 signal;
        do {
            fence();
            signal = *subordinate_sync;
        } while (signal != SYNC_LOAD && signal != SYNC_GO);
        const volatile struct launch_msg *launch = current_launch();
        set_data_mover_pointers(launch, CORE_NCRISC);
        sync_noc_counters(noc_index);
        set_up_circular_buffers(launch, 0);
        while (*subordinate_sync != SYNC_GO) fence();
        run_kernel(launch, CORE_NCRISC);
        *subordinate_sync = SYNC_DONE;
    }
}
