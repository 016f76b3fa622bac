/* A compute kernel that is compiled with formats of its circular buffers, as the host's are. It looks them up and does nothing.
 * Source: [hdr: hw/ckernels/blackhole/metal/common/chlkc_list.h]. */
#include "chlkc_descriptors.h"
#include "kernel.h"

void kernel_main(void) {
    u32 cb = arg(0) & 3;
    consume(unpack_src_format[cb]);
    consume(unpack_dst_format[cb]);
    consume(pack_dst_format[cb]);
}
