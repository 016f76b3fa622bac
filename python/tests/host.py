"""A host program without the vendor's stack: what it does to a chip, over the library's own functions.

`[spec: host-abi 2.1]` has the functions; `hostlib/src/abi.rs` where the memory lies.
"""

import ctypes
import os
import struct

BAR0 = 0x1_0000_0000
WINDOW_REGISTERS = BAR0 + 0x1FC0_0000
#: A tile by its translated coordinates, and its reset register with BRISC released.
TILE = (1, 2)
SOFT_RESET_0, ONLY_BRISC = 0xFFB1_21B0, 0x4_7000
#: What the host polls, and what the core does.
AWAITED, POLLED = 0x2_0000, 0x3_0000
#: Polls a word that nobody writes: lui x5; lw x6, 0(x5); beq x6, x0, -4.
WAITS = (POLLED | 0x2B7, 0x0002_A303, 0xFE03_0EE3)
#: Writes without an end: lui x5; addi x6, x6, 1; sw x6, 0(x5); jal x0, -8.
WORKS = (POLLED | 0x2B7, 0x0013_0313, 0x0062_A023, 0xFF9F_F06F)


class Host:
    """An open chip."""

    def __init__(self) -> None:
        self.library = ctypes.CDLL(os.environ["TT_METAL_SIMULATOR"])
        self.library.libttsim_init()

    def close(self) -> None:
        self.library.libttsim_exit()

    def write(self, address: int, data: bytes) -> None:
        x, y = TILE
        self.library.libttsim_tile_wr_bytes(
            ctypes.c_uint32(x), ctypes.c_uint32(y), ctypes.c_uint64(address), data, len(data)
        )

    def read(self, address: int, size: int) -> bytes:
        x, y = TILE
        data = ctypes.create_string_buffer(size)
        self.library.libttsim_tile_rd_bytes(
            ctypes.c_uint32(x), ctypes.c_uint32(y), ctypes.c_uint64(address), data, size
        )
        return data.raw

    def start(self, program) -> None:
        self.write(0, struct.pack(f"<{len(program)}I", *program))
        self.write(SOFT_RESET_0, struct.pack("<I", ONLY_BRISC))

    def poll(self, turns: int = -1) -> None:
        """Waits as hosts do: reads a word through a window and lets a clock pass, over and over."""
        x, y = TILE
        register = (AWAITED >> 21 | x << 43 | y << 49).to_bytes(16, "little")[:12]
        for word in range(3):
            part = register[4 * word : 4 * word + 4]
            where = ctypes.c_uint64(WINDOW_REGISTERS + 4 * word)
            self.library.libttsim_pci_mem_wr_bytes(where, part, 4)
        data, where = ctypes.create_string_buffer(4), ctypes.c_uint64(BAR0 + AWAITED)
        while turns != 0:
            turns -= 1
            self.library.libttsim_pci_mem_rd_bytes(where, data, 4)
            self.library.libttsim_clock(1)
