#!/usr/bin/env python3
"""Attaches the vendor's debugger and triage to a ttnn program that hangs on the device library.

    pip install ttnn==0.81.1 torch tt-exalens==0.4.2 pycapnp==2.0.0
    tools/live/attach_session.py [--fast-dispatch] DIR/libtilescope_bh.so

DIR is what `tilescope sim install DIR` wrote. A kernel of one core waits for a page that nobody pushes; its process
serves the chip over a socket, and this one attaches twice while it waits: with tt-exalens, which halts a core, reads
its registers and lets it go on, and with all scripts of the wheel's tt-triage. They have to find the kernel, its call
stack and its buffer, none may find something that is not there, and the hang is told once. Without one
of those packages it says so and exits with 77 ("skipped").
"""

import argparse
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

try:
    import capnp  # noqa: F401, tt-triage wants it
    import triage
    import ttnn  # noqa: F401, the program that hangs wants it
    from ttexalens import tt_exalens_init
    from ttexalens.coordinate import OnChipCoordinate
except ImportError as error:
    print(f"skipped: {error}; pip install ttnn==0.81.1 torch tt-exalens==0.4.2 pycapnp==2.0.0")
    sys.exit(77)

PROGRAM = '''
import torch, ttnn
KERNEL = """
#include "api/dataflow/dataflow_api.h"
void kernel_main() {
    cb_wait_front(3, 1);
}
"""
device = ttnn.open_device(device_id=0)
values = ttnn.from_torch(torch.zeros(32, 32).bfloat16(), layout=ttnn.TILE_LAYOUT, device=device)
corner = ttnn.CoreCoord(0, 0)
cores = ttnn.CoreRangeSet([ttnn.CoreRange(corner, corner)])
kernel = ttnn.KernelDescriptor(kernel_source=KERNEL, source_type=ttnn.KernelDescriptor.SourceType.SOURCE_CODE,
                               core_ranges=cores, compile_time_args=[], runtime_args=[],
                               config=ttnn.WriterConfigDescriptor())
page = ttnn.CBFormatDescriptor(buffer_index=3, data_format=ttnn.bfloat16, page_size=2048)
buffer = ttnn.CBDescriptor(total_size=4096, core_ranges=cores, format_descriptors=[page])
program = ttnn.ProgramDescriptor(kernels=[kernel], semaphores=[], cbs=[buffer])
ttnn.to_torch(ttnn.generic_op([values, values], program))
'''
# How long the program may take until it hangs: its kernels are compiled on the way.
PATIENCE_S = 300
# The writer of a kernel that reads nothing runs on BRISC of the first tile.
CORE, TILE = "brisc", "0,0"
# The scripts that have to show the kernel, and what of it.
SHOWN = {
    "dump_callstacks.py": "kernel_main",
    "dump_circular_buffers.py": ',3,local,',
    "dump_running_operations.py": "GenericOpDeviceOperation",
}


def check(condition, what):
    if not condition:
        print(f"FAILED: {what}")
        sys.exit(1)
    print(f"ok: {what}", flush=True)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def environment(library, folder, port, fast):
    """Of the program: sockets under a folder of its own, where nobody else serves a chip, and its kernels there."""
    wanted = {**os.environ, "TT_METAL_SIMULATOR": str(library), "TT_METAL_SIMULATOR_SERVE_OVER_SOCKETS": "1",
              "TT_METAL_INSPECTOR_RPC": "1", "TT_METAL_INSPECTOR_RPC_SERVER_ADDRESS": f"127.0.0.1:{port}",
              "TILESCOPE_ON_HANG": "continue", "TMPDIR": str(folder), "TT_METAL_CACHE": str(folder)}
    wanted.pop("TT_METAL_SLOW_DISPATCH_MODE", None)
    if not fast:
        wanted["TT_METAL_SLOW_DISPATCH_MODE"] = "1"
    return wanted


def hang(process, said):
    """Waits until the library has told of the hang."""
    end = time.monotonic() + PATIENCE_S
    while "the host waits on" not in said.read_text(errors="replace"):
        check_quietly(process.poll() is None, f"the program has ended: {said.read_text(errors='replace')[-800:]}")
        check_quietly(time.monotonic() < end, f"no hang was told within {PATIENCE_S} s")
        time.sleep(0.2)
    check(True, "the library tells of the hang")


def check_quietly(condition, what):
    if not condition:
        check(False, what)


def debugger(served):
    """What tt-exalens sees of the waiting core."""
    context = tt_exalens_init.init_ttexalens(simulation_directory=str(served))
    place = OnChipCoordinate.create(TILE, context.devices[0])
    core = place.noc_block.get_risc_debug(CORE)
    check(not core.is_halted(), f"{CORE} runs")
    core.halt()
    check(core.is_halted(), f"{CORE} is halted")
    stack, pc = core.read_gpr(2), core.get_pc()
    check(0xFFB00000 <= stack < 0xFFB02000, f"sp {stack:#x} points into its private memory, pc {pc:#x}")
    core.cont()
    check(not core.is_halted(), f"{CORE} goes on")


def scripts(environment, port):
    """What tt-triage reports: script by script, its lines."""
    program = pathlib.Path(triage.__file__).with_name("triage.py")
    command = [sys.executable, str(program), "--skip-version-check", "--llm-output", f"--inspector-rpc-port={port}"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE_S)
    check(done.returncode == 0, f"tt-triage ends with {done.returncode}{done.stderr[-400:]}")
    reports, name = {}, None
    for line in done.stdout.splitlines():
        if line.endswith(".py:") and not line.startswith(" "):
            name = line[:-1]
            reports[name] = []
        elif name is not None:
            reports[name].append(line)
    return reports


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("--fast-dispatch", action="store_true", help="let kernels on the chip dispatch the program")
    args = parser.parse_args()
    if not args.library.is_file():
        parser.error(f"no library {args.library}; `tilescope sim install DIR` writes one")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        port, said = free_port(), folder / "said"
        wanted = environment(args.library.resolve(), folder, port, args.fast_dispatch)
        with said.open("w") as errors:
            process = subprocess.Popen([sys.executable, "-c", PROGRAM], env=wanted, cwd=folder, stderr=errors)
        try:
            hang(process, said)
            served = list(folder.glob("tt-umd-sim-server-*"))
            check(len(served) == 1, f"the chip is served in {', '.join(path.name for path in served)}")
            debugger(served[0])
            # Triage finds the one server that there is by itself. It leaves cores halted, so it comes last.
            attached = {**wanted}
            attached.pop("TT_METAL_SIMULATOR")
            reports = scripts(attached, port)
            wrong = [name for name, lines in reports.items() if any(line.strip() == "fail" for line in lines)]
            check(not wrong, f"none of {len(reports)} scripts of tt-triage finds a fault {' '.join(wrong)}")
            broken = [line for lines in reports.values() for line in lines if "Broken" in line or "unsafe access" in line]
            check(not broken, f"nor a core that cannot be halted or read {' '.join(broken[:2])}")
            for name, text in SHOWN.items():
                check(any(text in line for line in reports.get(name, [])), f"{name} shows {text.strip(',')}")
            time.sleep(3)
            text = said.read_text(errors="replace")
            check(text.count("DEADLOCK[") == 2, "the hang has been told once, in a headline and whole")
            check("error" not in text, "nobody was refused anything")
            check(process.poll() is None, "the program still waits")
        finally:
            process.kill()
            process.wait()


if __name__ == "__main__":
    main()
