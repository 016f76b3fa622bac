/* C10 row-out-of-range: A store of four BF16 goes to a row of SrcB that does not exist.
 * Seen in: tt-metal #44308.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "hazard.h"

/* GPR 4 holds the address, the low half of GPR 6 the offset, GPR 8 and 9 the data
 * [isa-wh: TensixCoprocessor/STOREIND_Src.md]. */
#define TT_STOREIND_SRCB TT_WORD(0x66, 1 << 21 | 12 << 14 | 8 << 6 | 4)

enum { ROW = BUG ? 64 : 8 };

#if THREAD == 0
void kernel_main(void) {
    push(TT_CLEARDVALID_RESET);
    push(TT_SETDMAREG(8, ROW << 2));
    push(TT_SETDMAREG(9, 0));
    push(TT_SETDMAREG(12, 0));
    push(TT_STOREIND_SRCB); /* HERE */
    tensix_sync();
}
#else
void kernel_main(void) {}
#endif
