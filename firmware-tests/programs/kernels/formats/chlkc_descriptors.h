/* Stands in for the header that the host writes for each compute kernel: formats of circular buffers, by index.
 * Two buffers hold Float16_b (5), buffer 1 holds Float32 (0), others there are none (255). */
static const unsigned char unpack_src_format[4] = {
    5,0,255,5
};
static const unsigned char unpack_dst_format[4] = {
    5,4,255,5
};
static const unsigned char pack_dst_format[4] = {
    5,0,255,5
};
