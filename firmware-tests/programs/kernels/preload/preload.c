/* A kernel that may be started before its go signal: with the preload flag the firmware calls it early, and the kernel
 * itself must wait for GO [spec: boot-and-sync 7.3]. Works without preload too: then GO is already there.
 * The host clears the preload flag before it raises GO, or the kernel would start again after DONE.
 * Arguments  result    Results  0 mark written as soon as the kernel runs (0x5057)   1 mark written after GO (0x0060) */
#include "kernel.h"

void kernel_main(void) {
    volatile u32 *result = (volatile u32 *)arg(0);
    result[0] = 0x5057;
    while (MAILBOXES->go[MAILBOXES->go_message_index].signal != RUN_MSG_GO) fence();
    result[1] = 0x0060;
}
