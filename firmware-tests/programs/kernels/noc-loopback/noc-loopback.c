/* BRISC talks to its own tile over NoC 0 and NoC 1: a non-posted write, a read, and a row of atomic increments, each awaited
 * through the counters of the NoC interface unit. Initiator 0 writes, 1 reads, 3 increments.
 * Arguments  source, bytes, increments, scratch, result      (addresses 64-byte aligned)
 *   For NoC n: source -> scratch + 0x1000 n by write, that -> scratch + 0x800 + 0x1000 n by read,
 *   counter word at scratch + 0x2000 + 0x40 n raised by 5 per increment, `increments` times.
 * Results, per NoC at result + 0x20 n:  0 words that differ after write and read (0)   1 counter (5 increments)
 *   2 new write acknowledgements (1)   3 new read responses (1)   4 new atomic responses (increments)
 *   5 old value returned by the last increment (5 (increments - 1))
 * Sources: [isa-bh: NoC/MemoryMap.md, NoC/Counters.md], [isa-wh: NoC/Atomics.md] (increment: operation 1 at bit 12, width - 1
 * at bit 2, word within 16 bytes at bit 0). */
#include "kernel.h"

enum { WRITER = 0, READER = 1, ATOMIC = 3 };
#define AT_INCREMENT ((1u << 12) | (31u << 2))

static void start(u32 noc, u32 initiator) {
    NIU_CMD(noc, initiator, NOC_CMD_CTRL) = 1;
    while (NIU_CMD(noc, initiator, NOC_CMD_CTRL) != 0) {} /* also orders the counter reads that follow */
}

static void await(u32 noc, u32 counter, u32 value) {
    while (NIU_REG(noc, counter) != value) {}
    fence();
}

static void set_addresses(u32 noc, u32 initiator, u32 target, u32 back) {
    u32 id = NIU_REG(noc, NOC_ID_LOGICAL) & 0xFFF;
    NIU_CMD(noc, initiator, NOC_TARG_ADDR_LO) = target;
    NIU_CMD(noc, initiator, NOC_TARG_ADDR_MID) = 0;
    NIU_CMD(noc, initiator, NOC_TARG_ADDR_HI) = id;
    NIU_CMD(noc, initiator, NOC_RET_ADDR_LO) = back;
    NIU_CMD(noc, initiator, NOC_RET_ADDR_MID) = 0;
    NIU_CMD(noc, initiator, NOC_RET_ADDR_HI) = id;
    NIU_CMD(noc, initiator, NOC_PACKET_TAG) = 0;
}

static u32 count_differences(u32 a, u32 b, u32 bytes) {
    u32 differences = 0;
    for (u32 i = 0; i < bytes; i += 4) differences += REG32(a + i) != REG32(b + i);
    return differences;
}

static void round_trip(u32 noc) {
    u32 source = arg(0), bytes = arg(1), increments = arg(2), scratch = arg(3);
    volatile u32 *result = (volatile u32 *)(arg(4) + 0x20 * noc);
    u32 written = scratch + 0x1000 * noc, read = written + 0x800, word = scratch + 0x2000 + 0x40 * noc;
    u32 acks = NIU_REG(noc, NIU_MST_WR_ACK_RECEIVED), reads = NIU_REG(noc, NIU_MST_RD_RESP_RECEIVED);
    u32 atomics = NIU_REG(noc, NIU_MST_ATOMIC_RESP_RECEIVED);

    set_addresses(noc, WRITER, source, written);
    NIU_CMD(noc, WRITER, NOC_CTRL) = NOC_CMD_WR | NOC_CMD_RESP_MARKED | NOC_CMD_VC_STATIC | NOC_CMD_STATIC_VC(1);
    NIU_CMD(noc, WRITER, NOC_AT_LEN_BE) = bytes;
    start(noc, WRITER);
    await(noc, NIU_MST_WR_ACK_RECEIVED, acks + 1);

    set_addresses(noc, READER, written, read);
    NIU_CMD(noc, READER, NOC_CTRL) = NOC_CMD_RD | NOC_CMD_RESP_MARKED | NOC_CMD_VC_STATIC | NOC_CMD_STATIC_VC(1);
    NIU_CMD(noc, READER, NOC_AT_LEN_BE) = bytes;
    start(noc, READER);
    await(noc, NIU_MST_RD_RESP_RECEIVED, reads + 1);
    result[0] = count_differences(source, written, bytes) + count_differences(source, read, bytes);

    REG32(word) = 0;
    fence();
    set_addresses(noc, ATOMIC, word, L1_ATOMIC_RETURN);
    NIU_CMD(noc, ATOMIC, NOC_CTRL) = NOC_CMD_AT | NOC_CMD_RESP_MARKED | NOC_CMD_VC_STATIC | NOC_CMD_STATIC_VC(1);
    NIU_CMD(noc, ATOMIC, NOC_AT_LEN_BE) = AT_INCREMENT;
    NIU_CMD(noc, ATOMIC, NOC_AT_DATA) = 5;
    for (u32 i = 0; i < increments; i++) {
        start(noc, ATOMIC);
        await(noc, NIU_MST_ATOMIC_RESP_RECEIVED, atomics + i + 1);
    }
    result[1] = REG32(word);
    result[2] = NIU_REG(noc, NIU_MST_WR_ACK_RECEIVED) - acks;
    result[3] = NIU_REG(noc, NIU_MST_RD_RESP_RECEIVED) - reads;
    result[4] = NIU_REG(noc, NIU_MST_ATOMIC_RESP_RECEIVED) - atomics;
    result[5] = REG32(L1_ATOMIC_RETURN);
}

void kernel_main(void) {
    round_trip(0);
    round_trip(1);
}
