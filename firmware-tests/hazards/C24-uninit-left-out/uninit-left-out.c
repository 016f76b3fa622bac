/* C24 uninit-left-out: Unpack sets up a copy while the row pitch of the tilize operation in front of it is still in force.
 * Seen in: tt-llk #220.
 * BUG is 1 in the buggy kernel and 0 in its clean twin. */
#include "operations.h"

#if THREAD == 0
void kernel_main(void) {
    unpack_setup(256, 0);
    _llk_unpack_tilize_init_();
    _llk_unpack_tilize_();
    if (!BUG) _llk_unpack_tilize_uninit_(); /* MISSING HERE */
    _llk_unpack_A_init_();
    _llk_unpack_A_();
    tensix_sync();
}
#else
void kernel_main(void) {}
#endif
