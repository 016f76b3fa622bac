"""`pytest --tilescope` on small host programs: one that hangs is explained, the others are as without it."""

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent

TESTS = """
import os, sys
sys.path.insert(0, {here!r})
import host
import pytest

@pytest.fixture
def chip():
    it = host.Host()
    yield it
    it.close()

def test_first(chip):
    chip.write(host.AWAITED, b"kept")
    assert chip.read(host.AWAITED, 4) == b"kept"

def test_hangs(chip):
    chip.start(host.WAITS)
    chip.poll()

def test_is_fresh(chip):
    assert chip.read(host.AWAITED, 4) == bytes(4)
    assert chip.read(0, 4) == bytes(4)

def test_fails(chip):
    chip.write(host.AWAITED, b"kept")
    print("printed by the test")
    assert chip.read(host.AWAITED, 4) == b"lost"

@pytest.mark.skip(reason="not today")
def test_skipped(chip):
    pass

@pytest.mark.parametrize("value", ["a/b", "c d"])
def test_many(chip, value):
    pass
"""


@pytest.fixture
def suite(pytester):
    """A directory with such tests; gives what runs them in a process of its own."""
    pytester.makepyfile(test_chip=TESTS.format(here=str(HERE)))

    def run(*options: str):
        words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--tilescope"]
        return pytester.run(*words, "--tilescope-grace=1", *options, timeout=240)

    return run


def outcome(result):
    counts = result.parseoutcomes()
    return {key: counts[key] for key in ("passed", "failed", "skipped") if key in counts}


def test_hang_is_explained_and_the_others_are_as_without(suite, pytester):
    result = suite()
    assert outcome(result) == {"passed": 4, "failed": 2, "skipped": 1}
    result.stdout.fnmatch_lines(
        [
            "*the chip hangs, which is proved*",
            "*tilescope*",
            "*BRISC*0x30000*",
            "tape: tilescope why *test_hangs*.tstape",
        ]
    )
    result.stdout.fnmatch_lines(["*printed by the test*", "no hang*"])
    kept = pytester.path / "tilescope-report"
    names = sorted(path.name.rsplit("-", 1)[0] for path in kept.glob("*.tstape"))
    assert [name.split("_test_", 1)[0] for name in names] == ["test_chip.py"] * 6
    pages = list(kept.glob("*test_hangs*.html"))
    assert len(pages) == 1 and "DEADLOCK" in pages[0].read_text()
    assert {path.suffix for path in kept.iterdir()} == {".tstape", ".html"}


def test_hang_of_a_test_that_passes_is_told(pytester):
    pytester.makepyfile(
        f"""
        import os, sys, time
        from pathlib import Path
        sys.path.insert(0, {str(HERE)!r})
        import host

        def test_does_not_mind():
            it = host.Host()
            it.start(host.WAITS)
            until, news = time.monotonic() + 60, Path(os.environ["TILESCOPE_RUN_DIR"])
            while time.monotonic() < until and not list(news.glob("hang-*")):
                it.poll(1000)
            it.close()

        def test_after():
            host.Host().close()
        """
    )
    words = [sys.executable, "-m", "pytest", "--tilescope", "--tilescope-tapes=failed"]
    for more in [], ["-n", "2"]:
        if more:
            pytest.importorskip("xdist")
        result = pytester.run(*words, "-rP", *more, timeout=120)
        assert outcome(result) == {"passed": 2}
        told = "*does_not_mind*.html: *does_not_mind passed, and its chip hung"
        result.stdout.fnmatch_lines(["*BRISC*0x30000*", told])
        kept = pytester.path / "tilescope-report"
        assert sorted(path.suffix for path in kept.iterdir()) == [".html", ".tstape"]


def test_test_that_never_ends_shows_where_everybody_stands(pytester):
    pytester.makepyfile(
        f"""
        import sys
        sys.path.insert(0, {str(HERE)!r})
        import host

        def test_works_for_ever():
            it = host.Host()
            it.start(host.WORKS)
            it.poll()

        def test_after():
            host.Host().close()
        """
    )
    words = [sys.executable, "-m", "pytest", "--tilescope", "--tilescope-timeout=4"]
    result = pytester.run(*words, timeout=120)
    assert outcome(result) == {"passed": 1, "failed": 1}
    result.stdout.fnmatch_lines(["*was ended after 4 s*", "*BRISC*"])


def test_chip_of_a_whole_suite_is_fresh_for_each_test(pytester):
    """As the LLK tests have it: a conftest opens the chip, and nobody closes it."""
    pytester.makeconftest(
        f"""
        import sys
        sys.path.insert(0, {str(HERE)!r})
        import host
        import pytest
        CHIP = host.Host()

        @pytest.fixture(scope="session")
        def chip():
            return CHIP
        """
    )
    pytester.makepyfile(
        """
        import host

        def test_writes(chip):
            chip.write(host.AWAITED, b"kept")

        def test_reads(chip):
            assert chip.read(host.AWAITED, 4) == bytes(4)
        """
    )
    words = [sys.executable, "-m", "pytest", "--tilescope"]
    assert outcome(pytester.run(*words, timeout=120)) == {"passed": 2}
    kept = pytester.path / "tilescope-report"
    assert len(list(kept.glob("*.tstape"))) == 2
    # Shared it is as without the option: the second finds what the first has left.
    shared = pytester.run(*words, "--tilescope-share", timeout=120)
    assert outcome(shared) == {"passed": 1, "failed": 1}


def test_process_that_dies_is_a_failure_of_its_test(pytester):
    pytester.makepyfile(
        """
        import os

        def test_dies():
            os.abort()

        def test_lives():
            pass
        """
    )
    result = pytester.run(sys.executable, "-m", "pytest", "--tilescope", timeout=120)
    assert outcome(result) == {"passed": 1, "failed": 1}
    result.stdout.fnmatch_lines(["*was ended by SIGABRT*"])


def test_workers_of_xdist_do_the_same(suite):
    pytest.importorskip("xdist")
    assert outcome(suite("-n", "2")) == {"passed": 4, "failed": 2, "skipped": 1}


def test_without_the_option_nothing_changes(pytester):
    pytester.makepyfile(
        """
        import os

        def test_environment():
            assert "TILESCOPE_RUN_DIR" not in os.environ
        """
    )
    result = pytester.run(sys.executable, "-m", "pytest", timeout=60)
    assert outcome(result) == {"passed": 1}
    assert not (pytester.path / "tilescope-report").exists()
