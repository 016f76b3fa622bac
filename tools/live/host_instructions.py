#!/usr/bin/env python3
"""Counts the host instructions behind the rows of the host benchmark, of one build or of two side by side.

    cargo bench --profile release -p ffi --bench host --no-run     # says where the benchmark's program is
    tools/live/host_instructions.py --bench PROGRAM --library target/release/libtilescope_bh.so
    tools/live/host_instructions.py ... --library OLDER.so --library NEWER.so FIGURE...
    tools/live/host_instructions.py ... --recordings DIR ttnn_add llk_bcast

Unlike times they do not depend on who else uses the machine. A rate is counted in a short and in a long run, so
that what begins and ends it cancels: instructions and allocations are those of one step, request, block or clock.
A recorded session is counted as a whole; its page faults are those of a run without valgrind, the least of three.
Needs valgrind. One thread. Exit code 0, 1 if a row gave nothing, 2 for a wrong command, 77 without valgrind.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

RATES = ("one-core-alu one-core-load-store five-cores-alu 700-cores-alu 700-cores-load-store host-poll-700-cores "
         "host-write-64k host-read-64k noc-write-1k noc-write-16k noc-read-1k noc-multicast-69 noc-atomic "
         "tensix-sfpmad tensix-sfpload-store tensix-sempost-semget clocks-1-tile clocks-16-tiles").split()
SHORT_S, LONG_S = 0.5, 4.0  # of valgrind's time, in which some fifty times less happens
LIMIT_S = 600  # of one run
ALLOCATIONS = re.compile(r"^(malloc|calloc|realloc)$")
LOOK = re.compile(r"chip::hang::|::effects_hash$")


def environment(recording):
    """Of a run that is counted."""
    counted = {**os.environ, "TILESCOPE_THREADS": "1", "TILESCOPE_COUNTED": "1"}
    if recording is not None:
        counted["TILESCOPE_RECORDING"] = str(recording)
    return counted


def read_profile(profile):
    """How often the program asked for memory, and the instructions of looks for a hang, as a callgrind profile has it.

    Such a look is taken when the host has waited for a quarter of a second, which under valgrind it soon has.
    """
    names, caller, callee, asked, looks, follows = {}, None, None, 0, 0, False
    for line in profile.read_text(errors="replace").splitlines():
        if match := re.match(r"(c?)fn=\((\d+)\)(?: (.*))?$", line):
            called, number, name = match.groups()
            if name:
                names[number] = name
            callee, caller = (number, caller) if called else (callee, number)
        elif line.startswith("calls="):
            asked += int(line[6:].split()[0]) if ALLOCATIONS.match(names.get(callee, "")) else 0
            follows = bool(LOOK.search(names.get(callee, ""))) and not LOOK.search(names.get(caller, ""))
        elif follows:
            looks += int(line.split()[1])
            follows = False
    return asked, looks


def count(bench, library, figure, seconds, recording=None):
    """Host instructions but for looks for a hang, allocations, and what was counted in one run; None if it gave
    nothing."""
    with tempfile.TemporaryDirectory() as folder:
        profile = pathlib.Path(folder) / "profile"
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}", str(bench), "--seconds",
                   str(seconds), figure, "--library", str(library)]
        try:
            done = subprocess.run(command, env=environment(recording), capture_output=True, text=True,
                                  timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            return None
        instructions = re.search(r"Collected : (\d+)", done.stderr)
        counted = re.search(r"^COUNTED (.*)$", done.stdout, re.MULTILINE)
        if done.returncode or not instructions or not counted:
            return None
        asked, looks = read_profile(profile)
        return int(instructions[1]) - looks, asked, float(counted[1])


def of_rate(bench, library, figure):
    """Instructions and allocations of one of what a rate counts."""
    short, long = (count(bench, library, figure, seconds) for seconds in (SHORT_S, LONG_S))
    if short is None or long is None or long[2] <= short[2]:
        return None
    units = long[2] - short[2]
    return (long[0] - short[0]) / units, max(0.0, (long[1] - short[1]) / units)


def of_session(bench, library, recording):
    """Millions of instructions and thousands of page faults of a recorded session."""
    counted = count(bench, library, "replay", 0.01, recording)
    nothing = count(bench, library, "replayer", 0.01, recording)
    if counted is None or nothing is None:
        return None
    missing = [faults(bench, library, figure, recording) for figure in ("replay", "replayer")]
    return (counted[0] - nothing[0]) / 1e6, (missing[0] - missing[1]) / 1e3


def faults(bench, library, figure, recording):
    """Page faults of a run, the least of three."""
    least = None
    for _ in range(3):
        child = subprocess.Popen([str(bench), "--seconds", "0.01", figure, "--library", str(library)],
                                 env=environment(recording), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, _, usage = os.wait4(child.pid, 0)
        child.returncode = 0
        least = usage.ru_minflt if least is None else min(least, usage.ru_minflt)
    return least


def text(value):
    """A figure with three digits that say something."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def table(title, columns, rows):
    """Prints rows of one build, or of two with the ratio of the first figure; whether all gave something."""
    print(f"\n{title}")
    complete = True
    for name, builds in rows:
        complete &= None not in builds
        cells = []
        for number in range(len(columns)):
            cells += [text(build[number] if build else None) for build in builds]
        if len(builds) == 2 and None not in builds and builds[1][0] > 0:
            cells.append(f"{builds[0][0] / builds[1][0]:.2f} times")
        print(f"{name:42}" + "".join(f"{cell:>14}" for cell in cells), flush=True)
    return complete


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("row", nargs="*", help="a rate of the benchmark, or a recording of --recordings; all if none")
    parser.add_argument("--bench", type=pathlib.Path, required=True, help="the host benchmark's program")
    parser.add_argument("--library", type=pathlib.Path, action="append", required=True, help="once or twice")
    parser.add_argument("--recordings", type=pathlib.Path, help="a directory of recorded sessions")
    options = parser.parse_args()
    if len(options.library) > 2:
        parser.error("--library is given once or twice")
    for path in (options.bench, *options.library, *([options.recordings] if options.recordings else [])):
        if not path.exists():
            parser.error(f"{path}: not there")
    sessions = {path.name.split(".")[0]: path.resolve() for path in sorted(options.recordings.glob("*.rec*"))} \
        if options.recordings else {}
    unknown = [row for row in options.row if row not in RATES and row not in sessions]
    if unknown:
        parser.error(f"no row {', '.join(unknown)}; there are {', '.join(RATES)} and the recordings")
    if shutil.which("valgrind") is None:
        print("skipped: no valgrind here", file=sys.stderr)
        return 77
    libraries = [library.resolve() for library in options.library]
    bench, wanted = options.bench.resolve(), options.row or [*RATES, *sessions]
    rates = ((row, [of_rate(bench, library, row) for library in libraries]) for row in wanted if row in RATES)
    played = ((row, [of_session(bench, library, sessions[row]) for library in libraries])
              for row in wanted if row in sessions)
    complete = True
    if any(row in RATES for row in wanted):
        columns = ("instructions", "allocations")
        complete &= table("of one: host instructions; allocations", columns, rates)
    if any(row in sessions for row in wanted):
        columns = ("M instructions", "k page faults")
        complete &= table("of a session: millions of host instructions; thousands of page faults", columns, played)
    return 0 if complete else 1


if __name__ == "__main__":
    sys.exit(main())
