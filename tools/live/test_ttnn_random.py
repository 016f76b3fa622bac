"""What `ttnn_random.py` finds, with modules in place of ttnn and torch. Run with pytest."""

import os
import pathlib
import re
import subprocess
import sys

SCRIPT = pathlib.Path(__file__).with_name("ttnn_random.py")

# Each operation gives its name. WRONG, CRASHES, HANGS and REFUSED say with which operation the library `odd.so` does
# something else, REFUSES what neither library does.
TTNN = '''
import os, pathlib, time
ODD = pathlib.Path(os.environ["TT_METAL_SIMULATOR"]).stem == "odd"
def is_odd(what, name): return ODD and os.environ.get(what) == name
class Anything:
    def __init__(self, name): self.name = name
    def __getattr__(self, name): return Anything(name)
    def __call__(self, *_, **__):
        if os.environ.get("REFUSES") == self.name or is_odd("REFUSED", self.name): raise RuntimeError("no such\\\\nmore")
        if is_odd("CRASHES", self.name) or os.environ.get("ENDS") == self.name:
            with open(os.environ["TILESCOPE_REPORT"], "a") as report: report.write("tilescope: DEADLOCK on 1 tile\\nwhy\\n")
            os.abort()
        if is_odd("HANGS", self.name): time.sleep(1000)
        return Anything(self.name.capitalize() if is_odd("WRONG", self.name) else self.name)
def open_device(**_):
    if is_odd("CLOSED", "device"): raise RuntimeError("no such chip")
    return Anything("device")
def to_torch(result):
    import torch
    return torch.Tensor(result.name)
def add_bw(*_): return [Anything("add_bw")]
def __getattr__(name):
    if name.startswith("__"): raise AttributeError(name)
    return Anything(name)
'''
TORCH = '''
uint8 = int64 = int32 = 0
class Tensor:
    dtype, shape = "letters", (1,)
    def __init__(self, name=""): self.name = name
    def __getattr__(self, _): return lambda *_, **__: self
    def __len__(self): return 9
    def __setitem__(self, *_): pass
    def __mul__(self, _): return self
    __add__ = __mod__ = __mul__
    def tobytes(self): return self.name.encode()
Generator = Tensor
def set_num_threads(_): pass
def __getattr__(name):
    if name.startswith("__"): raise AttributeError(name)
    return lambda *_, **__: Tensor()
'''


def run(folder, *arguments, **changes):
    (folder / "ttnn.py").write_text(TTNN)
    (folder / "torch.py").write_text(TORCH)
    for name in ("even.so", "odd.so"):
        (folder / name).touch()
    environment = {**os.environ, "PYTHONPATH": str(folder), "TT_METAL_SIMULATOR": str(folder / "even.so"), **changes}
    done = subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, text=True, env=environment, timeout=120)
    return done.returncode, done.stdout, done.stderr


def compare(folder, *arguments, **changes):
    return run(folder, "--rival", folder / "odd.so", *arguments, **changes)[:2]


def test_libraries_that_give_the_same_are_the_same(tmp_path):
    assert compare(tmp_path, "--count", "60") == (0, "60 the same bits\n")


def test_a_case_that_differs_is_named_and_can_be_done_again(tmp_path):
    status, text = compare(tmp_path, "--count", "90", WRONG="typecast")
    found = re.findall(r"^case (\d+): (typecast .*): 1 of 8 bytes, the first at 0, of \[\['letters', 1\]\]$", text, re.M)
    assert status == 1 and found
    assert text.splitlines()[-1] == f"{90 - len(found)} the same bits, {len(found)} differ"
    number, name = found[-1]
    assert f"case {number}: {name}: " in compare(tmp_path, "--first", number, "--count", "1", WRONG="typecast")[1]
    # Another seed has other cases.
    assert f"case {number}: {name}: " not in compare(tmp_path, "--seed", "2", "--count", "90", WRONG="typecast")[1]


def test_what_only_one_library_does_differs_and_the_next_cases_run(tmp_path):
    for change, end in [({"REFUSED": "typecast"}, "RuntimeError: no such"), ({"CRASHES": "typecast"}, "the process ended"),
                        ({"HANGS": "typecast"}, "not done after 5 s")]:
        status, text = compare(tmp_path, "--count", "30", "--timeout", "5", **change)
        lost = re.findall(rf": typecast .*: carried out; the other library: {end}", text)
        assert status == 1 and lost
        assert text.splitlines()[-1] == f"{30 - len(lost)} the same bits, {len(lost)} differ"


def test_what_both_refuse_is_counted_apart(tmp_path):
    status, text = compare(tmp_path, "--count", "60", REFUSES="typecast")
    assert status == 0
    assert re.fullmatch(r"\d+ the same bits, \d+ refused by ttnn on both\n", text)


def test_what_ends_on_both_is_told_with_its_reason(tmp_path):
    status, text = compare(tmp_path, "--count", "30", ENDS="typecast")
    lost = re.findall(r"^case \d+: typecast .*: on both: the process ended \(-6\): DEADLOCK on 1 tile$", text, re.M)
    assert status == 0 and lost
    assert text.splitlines()[-1] == f"{30 - len(lost)} the same bits, {len(lost)} lost on both"


def test_library_without_a_device_is_one_line(tmp_path):
    status, text, errors = run(tmp_path, "--rival", tmp_path / "odd.so", CLOSED="device")
    assert (status, text) == (2, "") and errors.count("\n") == 1
    assert "odd.so: no case could begin, the process ended (1); RuntimeError: no such chip" in errors


def test_wrong_commands_get_one_line(tmp_path):
    for arguments, changes in [((), {}), (("--rival", tmp_path / "none.so"), {}), (("--count", "0"), {}),
                               (("--rival", tmp_path / "odd.so"), {"TT_METAL_SIMULATOR": ""})]:
        status, _, errors = run(tmp_path, *arguments, **changes)
        assert status == 2 and "error:" in errors.splitlines()[-1]
