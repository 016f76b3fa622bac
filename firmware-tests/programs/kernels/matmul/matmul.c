/* C = A B on square matrices of `n` x `n` faces, all four fidelity phases; Dst double-buffered between TRISC1 and TRISC2, unpacker
 * contexts double-buffered in TRISC0. Faces are stored row of faces by row of faces.
 * SrcB is the left operand and SrcA the right one [isa-wh: MVMUL.md].
 * Arguments  n, A, B, C
 * Sources: compute.h; [isa-wh: MVMUL.md]. */
#include "compute.h"

#define FACE(base, i, j) ((base) + ((i) * n + (j)) * FACE_BYTES)

#if THREAD == 1
static void multiply(u32 dst, u32 after, u32 clear) {
    for (u32 phase = 0; phase < 3; phase++) push(TT_MVMUL(dst, NEXT_PHASE, 0));
    push(TT_MVMUL(dst, after, clear));
}
#endif

void kernel_main(void) {
    u32 n = arg(0);
#if THREAD == 0
    unpack_setup(256, 0);
    u32 context = 0;
    for (u32 i = 0; i < n; i++)
        for (u32 j = 0; j < n; j++)
            for (u32 k = 0; k < n; k++, context ^= 1) unpack(context, FACE(arg(2), k, j), FACE(arg(1), i, k));
#elif THREAD == 1
    math_setup();
    /* SrcA stays at its rows while SrcB goes on. */
    modifier(NEXT_ROWS, 0, 8, FIDELITY_CLEAR);
    for (u32 face = 0; face < n * n; face++) {
        math_begin(face & 1);
        push(TT_ZEROACC_16(0)); /* counts from the half in use */
        for (u32 k = 0; k < n; k++) {
            multiply(0, NEXT_ROWS, 0);
            multiply(8, RESTART, 3);
        }
        math_end();
    }
#else
    pack_setup();
    for (u32 face = 0; face < n * n; face++) {
        pack_begin(face & 1, arg(3) + face * FACE_BYTES);
        pack_rows(0, 4);
        pack_end();
    }
#endif
    tensix_sync();
}
