/* A compute kernel that is compiled with formats of its circular buffers, as the host's are: it stores those of one buffer.
 * Arguments: where to, buffer.  Results: as unpackers take it from L1, as they make it, as the packer makes it.
 * Source: [hdr: hw/ckernels/blackhole/metal/common/chlkc_list.h]. */
#include "chlkc_descriptors.h"
#include "kernel.h"

void kernel_main(void) {
    u32 to = arg(0), cb = arg(1) & 3;
    REG32(to) = unpack_src_format[cb];
    REG32(to + 4) = unpack_dst_format[cb];
    REG32(to + 8) = pack_dst_format[cb];
}
