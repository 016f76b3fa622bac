"""What becomes of tests that pass, fail, skip, crash and hang under `run_list.py`. Run with pytest."""

import json
import os
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as xml

SCRIPT = pathlib.Path(__file__).with_name("run_list.py")

TESTS = '''
import os, subprocess, time, pytest

@pytest.mark.parametrize("n", [1, 2])
def test_good(n): pass
def test_good_too(): pass
def test_bad(): assert 1 == 2, "one is not two"
def test_left_out(): pytest.skip("not here")
def test_crash(): os.abort()
def test_hang():
    child = subprocess.Popen(["sleep", "1000"])
    open(os.environ["CHILD"], "w").write(str(child.pid))
    open(os.environ["TILESCOPE_REPORT"], "a").write("tilescope: DEADLOCK on 1 tile\\n")
    time.sleep(1000)
def test_after(): pass
'''


def run(folder, *arguments):
    (folder / "test_all.py").write_text(TESTS)
    environment = {**os.environ, "CHILD": str(folder / "child")}
    command = [sys.executable, SCRIPT, "--root", folder, "--library", "a.so", "--timeout", "3",
               "--results", folder / "results.jsonl", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)
    return done.returncode, done.stdout, done.stderr


def outcomes(folder):
    lines = (folder / "results.jsonl").read_text().splitlines()
    return {entry["test"].partition("::")[2]: entry["outcome"] for entry in map(json.loads, lines)}


def is_alive(pid):
    """Whether a process runs; one that nobody has asked for its end does not."""
    try:
        return pathlib.Path("/proc", pid, "stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def test_each_test_has_its_outcome_and_the_next_one_runs(tmp_path):
    status, text, _ = run(tmp_path, "test_all.py", "--junit", tmp_path / "out.xml")
    assert status == 1
    assert outcomes(tmp_path) == {
        "test_good[1]": "passed", "test_good[2]": "passed", "test_good_too": "passed", "test_bad": "failed",
        "test_left_out": "skipped", "test_crash": "crashed", "test_hang": "timed out", "test_after": "passed"}
    assert "one is not two" in text
    assert "timed out: test_all.py::test_hang: DEADLOCK on 1 tile" in text
    suite = xml.parse(tmp_path / "out.xml").getroot()
    counted = {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert counted == {"tests": "8", "failures": "1", "errors": "2", "skipped": "1"}
    # What a test that hangs has started is gone too.
    assert not is_alive((tmp_path / "child").read_text())


def test_run_that_was_interrupted_goes_on(tmp_path):
    run(tmp_path, "test_all.py::test_good[")
    assert list(outcomes(tmp_path)) == ["test_good[1]", "test_good[2]"]
    # As if it had been killed in the middle of a line.
    with (tmp_path / "results.jsonl").open("a") as file:
        file.write('{"library": "a.so", "te\n')
    status, text, _ = run(tmp_path, "test_all.py::test_good")
    assert status == 0 and "test_good_too" in text
    assert sum("test_good[1]" in line for line in text.splitlines() if line.startswith("[")) == 0


def test_long_reason_keeps_its_beginning(tmp_path):
    (tmp_path / "test_long.py").write_text("""def test_long():
    raise RuntimeError("the kernel does not compile" + 900 * "\\n --- a frame")
""")
    status, text, _ = run(tmp_path, "test_long.py")
    assert status == 1 and "failed: test_long.py::test_long: RuntimeError: the kernel does not compile" in text
    assert len((tmp_path / "results.jsonl").read_text()) < 5000


def test_lists_are_read(tmp_path):
    (tmp_path / "list.txt").write_text("# a comment\ntest_all.py::test_after  # and why\n\n")
    assert run(tmp_path, "list.txt")[0] == 0
    assert outcomes(tmp_path) == {"test_after": "passed"}
    assert run(tmp_path, "test_all.py::test_bad", "--anew")[0] == 1
    assert outcomes(tmp_path) == {"test_bad": "failed"}


def test_two_libraries_are_compared(tmp_path):
    status, text, _ = run(tmp_path, "test_all.py::test_good", "--rival", "b.so")
    assert status == 0 and "3 passed on both" in text


def test_wrong_commands_get_one_line(tmp_path):
    for wrong in (["no_such_file.py"], ["test_all.py", "--again", "lost"], ["--root", "/no/such", "a.py"]):
        status, _, text = run(tmp_path, *wrong)
        assert status == 2 and text.count("\n") == 1 and text.startswith("run_list: "), text


def test_file_that_cannot_be_collected_has_failed(tmp_path):
    (tmp_path / "test_broken.py").write_text("import no_such_module\n")
    status, text, _ = run(tmp_path, "test_broken.py", "test_all.py::test_after")
    assert status == 1 and "failed: test_broken.py: ModuleNotFoundError" in text
    assert outcomes(tmp_path)["test_after"] == "passed"


def test_file_that_cannot_be_collected_does_not_keep_others_of_its_directory_from_running(tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "test_broken.py").write_text("import no_such_module\n")
    (inner / "test_fine.py").write_text("def test_fine(): pass\n")
    status, text, _ = run(tmp_path, "inner", "--junit", tmp_path / "out.xml")
    assert status == 1 and "failed: inner/test_broken.py: ModuleNotFoundError" in text
    assert outcomes(tmp_path)["test_fine"] == "passed"
    assert xml.parse(tmp_path / "out.xml").getroot().get("tests") == "2"


def test_selector_that_names_no_test_has_failed(tmp_path):
    (tmp_path / "test_empty.py").write_text("")
    status, text, _ = run(tmp_path, "test_empty.py")
    assert status == 1 and "nothing was collected" in text + (tmp_path / "results.jsonl").read_text()
    status, text, _ = run(tmp_path, "test_all.py::test_none", "test_all.py::test_after")
    assert status == 1 and "failed: test_all.py::test_none: no test's name begins like this" in text
    assert outcomes(tmp_path)["test_after"] == "passed"


def test_sample_leaves_out_whole_files(tmp_path):
    (tmp_path / "test_more.py").write_text("def test_more(): pass\n")
    assert run(tmp_path, "test_more.py", "test_all.py::test_after", "--sample", "1")[0] == 0
    assert len(outcomes(tmp_path)) == 1
