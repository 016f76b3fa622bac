"""What `ttnn_speed.py` prints, with modules in place of ttnn and torch. Run with pytest."""

import os
import pathlib
import subprocess
import sys

SCRIPT = pathlib.Path(__file__).with_name("ttnn_speed.py")

# Burns as many milliseconds as the library's name says.
TTNN = '''
import os, pathlib, time
TILE_LAYOUT = 1
def burn():
    end = time.process_time() + int(pathlib.Path(os.environ["TT_METAL_SIMULATOR"]).stem) / 1e3
    while time.process_time() < end: pass
def open_device(**_): burn(); return 1
def close_device(_): pass
def synchronize_device(_): pass
def from_torch(tensor, **_): return tensor
def add(a, b): burn()
def __getattr__(name): return lambda *_, **__: burn()
def exp(a): raise RuntimeError("no such kernel\\nand more")
'''
TORCH = '''
class Tensor:
    def bfloat16(self): return self
def randn(*_): return Tensor()
def manual_seed(_): pass
def set_num_threads(_): pass
'''


def run(folder, *arguments, **changes):
    (folder / "ttnn.py").write_text(TTNN)
    (folder / "torch.py").write_text(TORCH)
    for milliseconds in (10, 40):
        (folder / f"{milliseconds}.so").touch()
    environment = {**os.environ, "PYTHONPATH": str(folder), "TT_METAL_SIMULATOR": str(folder / "10.so"), **changes}
    done = subprocess.run([sys.executable, SCRIPT, "--rounds", "1", "--times", "2", *arguments], capture_output=True,
                          text=True, env=environment, timeout=120)
    return done.returncode, done.stdout, done.stderr


def test_two_libraries_are_compared(tmp_path):
    status, text, _ = run(tmp_path, "--rival", tmp_path / "40.so", "open", "add_32")
    assert status == 0
    for name in ("open", "add_32"):
        ours, rival, times = next(line.split()[1:] for line in text.splitlines() if line.startswith(name))
        assert float(ours) >= 10 and float(rival) >= 40
        # Of 40.0 and 10.1 each may be off by 0.05: 10.05 goes 3.98 times into 40.0, and 10.1 goes 3.96 times.
        assert abs(float(times) - float(rival) / float(ours)) < 0.03


def test_an_operation_that_fails_is_named_and_the_next_one_measured(tmp_path):
    status, text, errors = run(tmp_path, "exp_512", "add_512")
    assert status == 1
    assert "exp_512: no such kernel" in errors
    assert [line.split()[1:] for line in text.splitlines() if line.startswith("exp_512")] == [["-"]]
    assert "add_512" in text


def test_a_wrong_command_is_one_line(tmp_path):
    for arguments, changes in [(["sing"], {}), (["--rival", tmp_path / "none.so"], {}),
                               ([], {"TT_METAL_SIMULATOR": ""})]:
        status, _, errors = run(tmp_path, *arguments, **changes)
        assert status == 2 and "error:" in errors.splitlines()[-1]
