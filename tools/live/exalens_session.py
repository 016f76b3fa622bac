#!/usr/bin/env python3
"""Drives the device library with the vendor's debugger, tt-exalens, as a user at a prompt would.

    pip install tt-exalens==0.4.2
    tools/live/exalens_session.py DIR/libtilescope_bh.so

DIR is what `tilescope sim install DIR` wrote: the library with its soc_descriptor.yaml beside it. One
Tensix tile boots the embedded firmware; then: halt all five cores, read registers, ten steps, a
breakpoint, continue, call stack, private memory, ebreak; and the firmware still serves a launch message
afterwards. Without tt-exalens it says so and exits with 77 ("skipped").

Not a test of tt-exalens: what it reports is compared with what the program, the instruction set and the
protocol demand.
"""

import argparse
import pathlib
import struct
import sys
import time

try:
    import ttexalens
    from ttexalens import tt_exalens_lib as lib
    from ttexalens.coordinate import OnChipCoordinate
    from ttexalens.elf_loader import ElfLoader
except ImportError as error:
    print(f"skipped: tt-exalens is not installed for this Python ({error}); pip install tt-exalens==0.4.2")
    sys.exit(77)

HERE = pathlib.Path(__file__).resolve().parent
FIRMWARE = HERE.parent.parent / "firmware-tests" / "programs" / "embedded"

# Where each core's image of initial data is staged [spec: boot-and-sync 1.3].
CORES = {"brisc": 0xA080, "ncrisc": 0xC080, "trisc0": 0xE080, "trisc1": 0xF080, "trisc2": 0x10080}
# Private memory by the slow path [isa-bh: TensixTile/BabyRISCV/README.md].
SLOW_PATH = {"brisc": 0xFFB14000, "ncrisc": 0xFFB16000, "trisc0": 0xFFB18000, "trisc1": 0xFFB1A000, "trisc2": 0xFFB1C000}
PRIVATE = 0xFFB00000
MAILBOX, MAILBOX_BYTES, GO_SIGNAL = 0x60, 0x3A80, 0x4F3
INIT, GO, DONE = 0x40, 0x80, 0x00
SOFT_RESET_0, ONLY_BRISC_RUNS, ALL_HELD = 0xFFB121B0, 0x47000, 0x47800
EBREAK = 0x00100073


def check(condition, what):
    if not condition:
        print(f"FAILED: {what}")
        sys.exit(1)
    print(f"ok: {what}", flush=True)


def segments(path):
    """Loadable segments of a 32-bit little-endian ELF: (address, bytes)."""
    data = path.read_bytes()
    start, size, count = struct.unpack_from("<I", data, 28)[0], *struct.unpack_from("<HH", data, 42)
    for index in range(count):
        kind, offset, _, address, length = struct.unpack_from("<5I", data, start + index * size)
        if kind == 1 and length:
            yield address, data[offset : offset + length]


class Tile:
    """One Tensix tile through the debugger's library."""

    def __init__(self, context, place):
        self.context = context
        self.place = OnChipCoordinate.create(place, context.devices[0])
        block = self.place.noc_block
        # tt-exalens takes NCRISC's debug hardware for absent; the simulator has it.
        block.ncrisc.debug_hardware_present = True
        self.cores = {name: block.get_risc_debug(name) for name in CORES}

    def read(self, address, length=4):
        return bytes(lib.read_from_device(self.place, address, num_bytes=length))

    def word(self, address):
        return struct.unpack("<I", self.read(address))[0]

    def write(self, address, data):
        lib.write_to_device(self.place, address, bytes(data))

    def write_word(self, address, value):
        lib.write_words_to_device(self.place, address, value)

    def wait_for(self, condition, what, polls=20000):
        """Time passes with every read of the host."""
        for _ in range(polls):
            if condition():
                return
        check(False, f"{what} (gave up after {polls} polls)")

    def boot(self):
        self.write_word(SOFT_RESET_0, ALL_HELD)
        self.write(0, bytes(0x14000))
        for name, staging in CORES.items():
            for address, data in segments(FIRMWARE / f"{name}.elf"):
                self.write(address if address < PRIVATE else staging + address - PRIVATE, data)
        self.write_word(0, ElfLoader.get_jump_to_offset_instruction(0x3AE0))
        self.write(GO_SIGNAL, [INIT])
        self.write_word(SOFT_RESET_0, ONLY_BRISC_RUNS)
        self.wait_for(lambda: self.read(GO_SIGNAL, 1)[0] == DONE, "firmware reports done")


def successors(word, pc, register):
    """The pc after the instruction, by the instruction set and the registers."""
    opcode, rs1, rs2, kind = word & 0x7F, word >> 15 & 31, word >> 20 & 31, word >> 12 & 7

    def signed(value, bits):
        return value - (1 << bits) if value >> (bits - 1) & 1 else value

    if opcode == 0x6F:
        offset = (word >> 31) << 20 | (word >> 12 & 0xFF) << 12 | (word >> 20 & 1) << 11 | (word >> 21 & 0x3FF) << 1
        return (pc + signed(offset, 21)) & 0xFFFFFFFF
    if opcode == 0x67:
        return (register(rs1) + signed(word >> 20, 12)) & 0xFFFFFFFE
    if opcode == 0x63:
        a, b = register(rs1), register(rs2)
        sa, sb = signed(a, 32), signed(b, 32)
        taken = {0: a == b, 1: a != b, 4: sa < sb, 5: sa >= sb, 6: a < b, 7: a >= b}[kind]
        offset = (word >> 31) << 12 | (word >> 7 & 1) << 11 | (word >> 25 & 0x3F) << 5 | (word >> 8 & 0xF) << 1
        return (pc + (signed(offset, 13) if taken else 4)) & 0xFFFFFFFF
    return pc + 4


def halt_all(tile):
    for name, core in tile.cores.items():
        check(not core.is_halted(), f"{name} runs")
        core.halt()
        check(core.is_halted(), f"{name} is halted")
    counts = [core.get_pc() for core in tile.cores.values()]
    for _ in range(20):
        tile.word(0)
    check(counts == [core.get_pc() for core in tile.cores.values()], "nobody moves while halted")


def registers(tile):
    for name, core in tile.cores.items():
        values = [core.read_gpr(index) for index in range(33)]
        check(values[0] == 0 and values[32] == core.get_pc(), f"{name}: x0 is zero, pc {values[32]:#x}")
        check(PRIVATE <= values[2] <= PRIVATE + 0x2000, f"{name}: sp {values[2]:#x} points into private memory")
        core.write_gpr(31, 0x12345678)
        check(core.read_gpr(31) == 0x12345678, f"{name}: x31 can be changed")
        core.write_gpr(31, values[31])


def steps(tile):
    for name, core in tile.cores.items():
        path = [core.get_pc()]
        for _ in range(10):
            pc = path[-1]
            expected = successors(tile.word(pc), pc, core.read_gpr)
            core.step()
            check_quietly(core.get_pc() == expected, f"{name}: from {pc:#x} to {core.get_pc():#x}, not {expected:#x}")
            path.append(expected)
        check(core.is_halted(), f"{name}: ten steps " + " ".join(f"{pc:x}" for pc in path))


def check_quietly(condition, what):
    if not condition:
        check(False, what)


def breakpoint_and_continue(tile):
    for name, core in tile.cores.items():
        # In a polling loop, what was stepped over comes again.
        core.step()
        target = core.get_pc()
        after = successors(tile.word(target), target, core.read_gpr)
        core.set_watchpoint_on_pc_address(3, target)
        check(core.read_watchpoints_state()[3].is_enabled, f"{name}: breakpoint 3 is enabled")
        core.cont()
        tile.wait_for(core.is_halted, f"{name} comes to its breakpoint")
        status = core.read_status()
        check(
            status.is_pc_watchpoint_hit and status.watchpoints_hit == [index == 3 for index in range(8)],
            f"{name}: stopped by breakpoint 3 at {target:#x}",
        )
        check(core.get_pc() == after, f"{name}: behind it, at {core.get_pc():#x}")
        core.disable_watchpoint(3)


def call_stack(tile):
    for name in CORES:
        frames = lib.callstack(tile.place, str(FIRMWARE / f"{name}.elf"), risc_name=name)
        names = [frame.function_name for frame in frames]
        check("main" in names, f"{name}: call stack {' < '.join(str(n) for n in names)}")
        where = frames[0].file_info
        check(where is not None and where.line > 0, f"{name}: {where.file}:{where.line}")


def private_memory(tile):
    for name, core in tile.cores.items():
        scratch = PRIVATE + 0x40
        before = core.read_memory(scratch)
        core.write_memory(scratch, 0xCAFE0000)
        check(core.read_memory(scratch) == 0xCAFE0000, f"{name}: private memory through the core")
        check(tile.word(SLOW_PATH[name] + 0x40) == 0xCAFE0000, f"{name}: the same through the NoC")
        check(lib.read_riscv_memory(tile.place, scratch, name) == 0xCAFE0000, f"{name}: the same by read_riscv_memory")
        core.write_memory(scratch, before)


def still_serves(tile):
    for name, core in tile.cores.items():
        core.cont()
        check(not core.is_halted(), f"{name} goes on")
    # A launch message that enables nobody.
    tile.write(GO_SIGNAL, [GO])
    tile.wait_for(lambda: tile.read(GO_SIGNAL, 1)[0] == DONE, "firmware serves a launch message")
    check(True, "firmware serves a launch message after all that")


def ebreak(tile):
    core = tile.cores["trisc1"]
    core.halt()
    # trisc1 polls: the word at its pc comes round. Put ebreak there, and the word back.
    pc = core.get_pc()
    word = tile.word(pc)
    tile.write_word(pc, EBREAK)
    core.cont()
    tile.wait_for(core.is_halted, "trisc1 executes ebreak")
    check(core.is_ebreak_hit() and core.get_pc() == pc + 4, f"trisc1: ebreak at {pc:#x} shows in status and pc")
    tile.write_word(pc, word)
    core.debug_hardware.flush(pc)
    core.cont()
    check(not core.is_halted(), "trisc1 goes on behind ebreak")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", type=pathlib.Path, help="libtilescope_bh.so with soc_descriptor.yaml beside it")
    parser.add_argument("--tile", default="1-2", help="NoC 0 coordinates of a Tensix tile (default 1-2)")
    arguments = parser.parse_args()
    if not arguments.library.is_file():
        parser.error(f"{arguments.library} is not there; `tilescope sim install DIR` writes it")
    began = time.monotonic()
    context = ttexalens.tt_exalens_init.init_ttexalens(simulation_directory=str(arguments.library.resolve()))
    tile = Tile(context, arguments.tile)
    tile.boot()
    check(True, f"firmware is up ({time.monotonic() - began:.1f} s)")
    for part in (halt_all, registers, steps, breakpoint_and_continue, call_stack, private_memory, still_serves, ebreak):
        print(f"-- {part.__name__}", flush=True)
        part(tile)
    print(f"passed ({time.monotonic() - began:.1f} s)")


if __name__ == "__main__":
    main()
