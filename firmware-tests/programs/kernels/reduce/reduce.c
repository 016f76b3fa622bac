/* Column sums over `faces` faces: GAPOOL with SrcB all ones, accumulated in Dst, all four fidelity phases. The four rows of output
 * are equal.
 * Arguments  faces, input, ones, output
 * Sources: compute.h; [isa-wh: GAPOOL.md]. */
#include "compute.h"

void kernel_main(void) {
    u32 faces = arg(0);
#if THREAD == 0
    unpack_setup(256, 0);
    for (u32 i = 0; i < faces; i++) unpack(i & 1, arg(1) + i * FACE_BYTES, arg(2));
#elif THREAD == 1
    math_setup();
    math_begin(0);
    push(TT_ZEROACC_16(0));
    for (u32 i = 0; i < faces; i++) {
        for (u32 phase = 0; phase < 3; phase++) push(TT_GAPOOL(0, NEXT_PHASE, 0));
        push(TT_GAPOOL(0, RESTART, 3));
    }
    math_end();
#else
    (void)faces;
    pack_setup();
    pack_begin(0, arg(3));
    pack_rows(0, 1);
    pack_end();
#endif
    tensix_sync();
}
