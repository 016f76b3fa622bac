"""Plans stepped through."""

import json
import os
import subprocess

import pytest
import tilescope


def test_hang_is_an_exception_with_the_diagnosis(plan):
    with tilescope.Session(plan("hang"), embedded=True) as session:
        with pytest.raises(tilescope.Deadlock) as caught:
            session.run()
        # The command prints the same; the cause is the demo's own subject.
        told = subprocess.run(
            [tilescope.binary(), "demo", "hang"], stdout=subprocess.PIPE, text=True, check=False
        ).stdout
        assert str(caught.value) == told.rstrip()
        explanation = caught.value.explanation
        assert explanation.verdict == session.status.verdict == "DEADLOCK"
        assert "MATH_PACK" in explanation.headline and explanation.hazards[0] == "A4"
        assert any(wait.root for wait in explanation.waits)
        assert session.semaphores["MATH_PACK"] == 1
        assert "<html" in explanation.html and "iframe" in caught.value._repr_html_()
        assert session.cores["BRISC"].state in ("parked", "waiting")


def test_steps_and_one_run_give_the_same(plan):
    path = plan("signal-before-data")
    with tilescope.Session(path, embedded=True) as whole, tilescope.Session(
        path, embedded=True
    ) as steps:
        for session, go in ((whole, whole.run), (steps, lambda: None)):
            try:
                go()
            except tilescope.WrongResult as error:
                assert error.explanation is not None and error.explanation.verdict == "WRONG-RESULT"
        cycle = 0
        while not steps.over:
            steps.step(997)
            # A step ends with an epoch, of eight cycles unless asked for otherwise.
            assert steps.over or cycle + 997 <= steps.cycle < cycle + 997 + 8
            cycle = steps.cycle
        assert whole.status == steps.status
        assert whole.read(0, 0x180000) == steps.read(0, 0x180000)


def test_l1_reads_what_was_written():
    numpy = pytest.importorskip("numpy")
    with tilescope.Session(embedded=True) as session:
        session.run()
        numbers = numpy.array([1.5, -2.0, 0.0, 3.25], "<f4")
        session.write(0x40000, numbers.tobytes())
        assert session.l1(0x40000, 4, "fp32").tolist() == numbers.tolist()
        # The upper half of an FP32 is the BF16 of a number that needs no more.
        session.write(0x40000, b"".join(number.tobytes()[2:] for number in numbers))
        assert session.l1(0x40000, 4, "bf16").tolist() == numbers.tolist()
        with pytest.raises(tilescope.TilescopeError, match="from outside"):
            session.explain()


def test_register_files_have_their_shapes():
    numpy = pytest.importorskip("numpy")
    with tilescope.Session(embedded=True) as session:
        session.run()
        assert session.dst("bf16").shape == (1024, 16)
        assert session.dst("fp32").shape == (512, 16)
        assert session.src("a").shape == session.src("B", 1, "fp16").shape == (64, 16)
        assert session.lregs().shape == (17, 32)
        # LReg 10 is the constant 1 [isa-bh: TensixTile/TensixCoprocessor/LReg.md].
        assert session.lregs("fp32")[10].tolist() == [1.0] * 32
        assert session.dst("raw").dtype == numpy.uint32
        with pytest.raises(tilescope.TilescopeError, match="no bank"):
            session.src("c")


def test_events_are_those_of_the_command(plan):
    path = plan("hang")
    with tilescope.Session(path, embedded=True, events=True) as session:
        events = list(session.events())
    words = [tilescope.binary(), "launch", str(path), "--embedded", "--jsonl", "-", "--json"]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=False)
    printed = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"seq"')]
    # The verdict is what `explain` tells, and is not in this stream: docs/events.md.
    bare = [{**event, "seq": 0} for event in printed if event["event"] != "Verdict"]
    assert [{**event, "seq": 0} for event in events] == bare and len(events) > 100
    polls = [event for event in events if event["event"] == "Poll"]
    assert polls[-1]["open"] and "rounds in" in polls[-1]["text"]


def test_mistakes_of_the_host_are_said_in_a_line(tmp_path):
    missing = tmp_path / "missing.toml"
    with pytest.raises(tilescope.TilescopeError, match="missing.toml"):
        tilescope.Session(missing)
    with pytest.raises(tilescope.TilescopeError, match="unexpected argument"):
        tilescope.Session(speed=9)
    with tilescope.Session(embedded=True) as session:
        for call in (
            lambda: session.read(0x17FFFF, 2),
            lambda: session.registers("nothing"),
            lambda: session.l1(0, 1, "fp7"),
            lambda: next(session.events()),
            lambda: session.step(calls=1),
        ):
            with pytest.raises(tilescope.TilescopeError):
                call()
        # None of them has harmed it.
        assert session.run().status.verdict == "DONE"
    with pytest.raises(tilescope.TilescopeError, match="closed"):
        session.read(0, 4)


def test_limit_is_no_progress():
    with tilescope.Session(embedded=True) as session:
        with pytest.raises(tilescope.NoProgress):
            session.run(max_cycles=100)
        assert session.run().status.verdict == "DONE"


def test_session_is_not_used_on_both_sides_of_a_fork():
    with tilescope.Session(embedded=True) as session:
        child = os.fork()
        if child == 0:
            try:
                session.read(0, 4)
            except tilescope.TilescopeError:
                os._exit(0)
            os._exit(1)
        assert os.waitpid(child, 0)[1] == 0
        assert session.run().status.verdict == "DONE"


def test_why_explains_a_plan(plan):
    explanation = tilescope.why(plan("hang"), "--embedded")
    assert explanation.hangs and explanation.cycle > 0
    assert json.loads(explanation.form("json")) == explanation.data
    assert explanation.form("dot").startswith("digraph")


def test_explanation_is_saved_in_the_form_of_its_name(plan, tmp_path):
    explanation = tilescope.why(plan("hang"), "--embedded")
    for name, begins in (("a.html", "<!doctype html"), ("a.sarif", "{"), ("a.txt", "DEADLOCK")):
        explanation.save(tmp_path / name)
        assert (tmp_path / name).read_text().lower().startswith(begins.lower())


def test_notebook_shows_cores(plan):
    with tilescope.Session(plan("hang"), embedded=True) as session:
        assert "<table>" in session._repr_html_() and "boot" in repr(session)
