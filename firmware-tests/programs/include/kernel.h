/* What a launched kernel may use. Variables of the firmware are reached through the addresses that both the vendor's
 * build and the embedded one use [spec: boot-and-sync 7.4]; the linker script supplies them per core. */
#ifndef KERNEL_H
#define KERNEL_H
#include "mailbox.h"
#include "tensix_words.h"

extern volatile u32 *rta_l1_base;  /* unique runtime arguments */
extern volatile u32 *crta_l1_base; /* common runtime arguments */

static inline u32 arg(u32 index) { return rta_l1_base[index]; }
static inline u32 common_arg(u32 index) { return crta_l1_base[index]; }

/* cb_interface of TRISC0 and TRISC2 has the same address in every firmware build; BRISC's and NCRISC's moves with the
 * number of memory banks, so data-mover kernels here take buffer addresses as arguments. */
#define TRISC_CB_INTERFACE ((volatile struct cb_interface_entry *)0xFFB00020)

void kernel_main(void);
#endif
