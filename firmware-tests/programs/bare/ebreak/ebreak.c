/* `ebreak` halts its core for a debugger; nothing behind it runs. Eight NOPs follow, as debuggers require.
 * Results  1 before the break; word 2 stays 0; no done mark. Source: [spec: host-abi]; [hazard: C12]. */
#include "bare.h"

void main(void) {
    RESULT[1] = 1;
    fence();
    __asm__ volatile("ebreak\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop");
    RESULT[2] = 1;
    done();
}
