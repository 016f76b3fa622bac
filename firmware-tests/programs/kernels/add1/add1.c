/* Adds a face of constants to every face of a tensor: unpack, ELWADD, pack.
 * Arguments  faces, input, constants, output
 * Sources: compute.h; [isa-wh: ELWADD.md]. */
#include "compute.h"

void kernel_main(void) {
    u32 faces = arg(0);
#if THREAD == 0
    unpack_setup(256, 0);
    for (u32 i = 0; i < faces; i++) unpack(i & 1, arg(1) + i * FACE_BYTES, arg(2));
#elif THREAD == 1
    math_setup();
    for (u32 i = 0; i < faces; i++) {
        math_begin(i & 1);
        push(TT_ELWADD(0, NEXT_ROWS, 0));
        push(TT_ELWADD(8, RESTART, 3));
        math_end();
    }
#else
    pack_setup();
    for (u32 i = 0; i < faces; i++) {
        pack_begin(i & 1, arg(3) + i * FACE_BYTES);
        pack_rows(0, 4);
        pack_end();
    }
#endif
    tensix_sync();
}
