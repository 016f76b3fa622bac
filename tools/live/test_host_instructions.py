"""What `host_instructions.py` makes of profiles, with programs in place of valgrind and the benchmark. Run with pytest."""

import os
import pathlib
import subprocess
import sys

SCRIPT = pathlib.Path(__file__).with_name("host_instructions.py")

# A start of 500 instructions; then 7 of each and a look for a hang of 1,000. Every tenth asks for memory.
VALGRIND = '''#!/usr/bin/env python3
import pathlib, sys
words = sys.argv
profile = next(word.split("=", 1)[1] for word in words if word.startswith("--callgrind-out-file="))
at = words.index("--seconds")
counted, figure = int(float(words[at + 1]) * 1000), words[at + 2]
if "broken" in words[-1]:
    sys.exit(1)
each = 7 if "new" in words[-1] else 14
pathlib.Path(profile).write_text(f"""fn=(1) main
cfn=(2) malloc
calls={counted // 10} 0
12 34
cfn=(3) chip::hang::full_hang
calls=1 0
13 1000
fn=(3)
cfn=(4) chip::hang::scenes
calls=1 0
14 900
""")
print("COUNTED", counted)
print("==1== Collected :", 500 + each * counted + 1000 + (100 if figure == "replay" else 0), file=sys.stderr)
'''


def run(folder, *arguments, **changes):
    tools = folder / "tools"
    tools.mkdir()
    (tools / "valgrind").write_text(VALGRIND)
    (tools / "valgrind").chmod(0o755)
    bench = folder / "bench"
    bench.write_text("#!/bin/sh\n")
    bench.chmod(0o755)
    for name in ("old.so", "new.so", "broken.so", "one.rec"):
        (folder / name).touch()
    environment = {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", **changes}
    done = subprocess.run([sys.executable, SCRIPT, "--bench", bench, *arguments], capture_output=True, text=True,
                          env=environment, cwd=folder, timeout=120)
    return done.returncode, done.stdout, done.stderr


def row(text, name):
    return next(line.split()[1:] for line in text.splitlines() if line.startswith(name))


def test_what_begins_and_ends_a_run_and_looks_for_a_hang_are_left_out(tmp_path):
    status, text, _ = run(tmp_path, "--library", "old.so", "--library", "new.so", "noc-write-1k")
    assert status == 0
    assert row(text, "noc-write-1k") == ["14", "7", "0.1", "0.1", "2.00", "times"]


def test_a_session_is_counted_without_the_replayer(tmp_path):
    status, text, _ = run(tmp_path, "--library", "new.so", "--recordings", ".", "one")
    assert status == 0
    assert row(text, "one")[0] == "0.0001"


def test_a_row_that_gives_nothing_is_a_dash_and_the_status_says_so(tmp_path):
    status, text, _ = run(tmp_path, "--library", "broken.so", "noc-atomic")
    assert status == 1
    assert row(text, "noc-atomic") == ["-", "-"]


def test_wrong_commands_say_what_is_wrong(tmp_path):
    status, _, errors = run(tmp_path, "--library", "new.so", "no-such-row")
    assert status == 2 and "no row no-such-row" in errors


def test_without_valgrind_it_is_skipped(tmp_path):
    status, _, errors = run(tmp_path, "--library", "new.so", PATH=str(tmp_path))
    assert status == 77 and "no valgrind" in errors
