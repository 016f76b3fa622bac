/* L1 semaphores of the launch: one word every 16 bytes from kernel_config_base[0] + sem_offset[0], with initial values from the
 * host. Found through the launch message, because sem_l1_base moves between firmware builds.
 *   NCRISC raises semaphore 0 from its initial value a to a + steps, one at a time, then waits for semaphore 1 = tag.
 *   BRISC waits for semaphore 0 = a + steps, then sets semaphore 1 = tag.
 * Arguments  steps, tag, result    Results  initial value as found (a), final value seen of the other's semaphore:
 *   BRISC a, a + steps;  NCRISC initial value b of semaphore 1, tag.
 * The initial values are read before the cores meet in L1 (words behind the results), so neither is changed too early.
 * Source: [spec: boot-and-sync 7.1]. */
#include "kernel.h"

static volatile u32 *semaphore(u32 index) {
    const volatile struct launch_msg *launch = &MAILBOXES->launch[MAILBOXES->launch_msg_rd_ptr];
    return (volatile u32 *)(launch->kernel_config_base[0] + launch->sem_offset[0] + 16 * index);
}

static u32 await(volatile u32 *word, u32 value) {
    while (*word != value) fence();
    return value;
}

void kernel_main(void) {
    u32 steps = arg(0), tag = arg(1);
    volatile u32 *result = (volatile u32 *)arg(2), *met = (volatile u32 *)common_arg(0);
#ifdef ROLE_BRISC
    u32 initial = *semaphore(0);
    result[0] = initial;
    amoadd(met, 1);
    result[1] = await(semaphore(0), initial + steps);
    *semaphore(1) = tag;
#else
    result[0] = *semaphore(1);
    amoadd(met, 1);
    await(met, 2);
    for (u32 i = 0; i < steps; i++) amoadd(semaphore(0), 1);
    result[1] = await(semaphore(1), tag);
#endif
}
