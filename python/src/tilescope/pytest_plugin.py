"""`pytest --tilescope`: ttnn and LLK tests on the simulated chip; one that hangs is explained.

A chip lives in the process of the test, and a test that hangs never comes back from it. So tests run in
a worker process, one after another, and this process watches. A worker in which something went wrong, or
in which a chip is still open after a test, is replaced: the next test gets a fresh chip.

What the library tells of a hang it writes into the directory that TILESCOPE_RUN_DIR names; each test
has its own, and its own tape.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import time
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional

import pytest

from ._command import ask
from ._errors import TilescopeError
from ._worker import WORKER_VARIABLE, Ended, Worker

#: Property of a report: where the page of its test lies.
_PAGE = "tilescope"
#: Seconds for `tilescope why` of a test that has failed without a hang.
_WHY_SECONDS = 60
#: Seconds that the library gets to say where everybody stands; it looks twenty times a second.
_TOLD_SECONDS = 2.0


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options."""
    group = parser.getgroup("tilescope", "tests on a simulated chip")
    group.addoption(
        "--tilescope",
        action="store_true",
        help="Run tests on the simulated chip, each with a tape, and explain those that hang.",
    )
    group.addoption(
        "--tilescope-dir",
        metavar="DIR",
        default="tilescope-report",
        help="Directory for tapes and pages (default: %(default)s).",
    )
    group.addoption(
        "--tilescope-timeout",
        metavar="SECONDS",
        type=float,
        default=None,
        help="End a test after that long, and say where every core stands. "
        "Unless given: that of pytest-timeout, if there is one.",
    )
    group.addoption(
        "--tilescope-grace",
        metavar="SECONDS",
        type=float,
        default=10.0,
        help="How long a test may go on once its hang is proved: it may find out itself "
        "(default: %(default)s).",
    )
    group.addoption(
        "--tilescope-tapes",
        choices=["all", "failed"],
        default="all",
        help="Which tapes are kept (default: %(default)s).",
    )
    group.addoption(
        "--tilescope-share",
        action="store_true",
        help="Let tests share a chip that a fixture or a suite keeps open, as without --tilescope: "
        "faster where it takes long to open; their tape is then that of the first.",
    )
    group.addoption(
        "--tilescope-fast-dispatch",
        action="store_true",
        help="Let kernels on the chip dispatch the work.",
    )


def _is_wanted(options: Any) -> bool:
    return bool(getattr(options, "tilescope", False)) and WORKER_VARIABLE not in os.environ


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Set the environment before a conftest looks at it."""
    options = early_config.known_args_namespace
    if not _is_wanted(options):
        return
    words = ["env"] + (["--fast-dispatch"] if options.tilescope_fast_dispatch else [])
    try:
        done = ask(*words)
    except (TilescopeError, OSError) as error:
        raise pytest.UsageError(f"--tilescope: {error}") from None
    if done.returncode != 0:
        raise pytest.UsageError(f"--tilescope: {done.stderr.strip()}")
    for word, *rest in map(shlex.split, done.stdout.splitlines()):
        if word == "unset":
            os.environ.pop(rest[0], None)
        elif word == "export":
            name, _, value = rest[0].partition("=")
            os.environ[name] = value
    # Of this process, whose chip is nobody's; the workers get their own.
    for name in ("TILESCOPE_TAPE", "TILESCOPE_REPORT", "TILESCOPE_RUN_DIR"):
        os.environ.pop(name, None)
    os.environ["TILESCOPE_ON_HANG"] = "continue"


def pytest_configure(config: pytest.Config) -> None:
    """Take over how tests are run."""
    if not _is_wanted(config.option):
        return
    if config.option.usepdb:
        raise pytest.UsageError("--tilescope runs tests in processes of their own, without --pdb")
    config.pluginmanager.register(Runner(config), "tilescope-runner")


@dataclass
class Paths:
    """What a test leaves behind."""

    name: str
    dir: Path
    news: Path = field(init=False)
    tape: Path = field(init=False)
    page: Path = field(init=False)

    def __post_init__(self) -> None:
        self.news = self.dir / "run" / self.name
        self.tape = self.dir / f"{self.name}.tstape"
        self.page = self.dir / f"{self.name}.html"

    @classmethod
    def of(cls, nodeid: str, dir: Path) -> "Paths":
        """Names that tell tests apart whatever their parameters are."""
        plain = re.sub(r"[^\w.-]+", "_", nodeid).strip("_")[-90:]
        digest = hashlib.sha256(nodeid.encode()).hexdigest()[:8]
        return cls(f"{plain}-{digest}", dir)

    def clear(self) -> None:
        """What an earlier run has left."""
        shutil.rmtree(self.news, ignore_errors=True)
        self.news.mkdir(parents=True)
        for path in (self.tape, self.page):
            path.unlink(missing_ok=True)

    def environment(self) -> Dict[str, str]:
        """What the library reads when a chip is opened."""
        return {
            "TILESCOPE_RUN_DIR": str(self.news),
            "TILESCOPE_TAPE": str(self.tape),
            "TILESCOPE_REPORT": str(self.page),
        }

    def _lines(self, what: str) -> Iterator[str]:
        for path in sorted(self.news.glob(f"{what}-*")):
            # A line that is still being written comes with the next look.
            yield from path.read_text(errors="replace").splitlines()

    def hangs(self) -> List[Dict[str, Any]]:
        """The hangs that were proved."""
        found = []
        for line in self._lines("hang"):
            try:
                found.append(json.loads(line))
            except ValueError:
                continue
        return found

    def errors(self) -> List[str]:
        """Mistakes of firmware and kernels."""
        return list(self._lines("errors"))

    def tapes(self) -> List[Path]:
        """The tapes of the sessions that have begun in it."""
        found = dict.fromkeys(Path(line) for line in self._lines("session") if line)
        return [tape for tape in found if tape.is_file()]

    def positions(self) -> str:
        """Where every core stands, once the library is asked; empty if it does not answer."""
        (self.news / "ask").touch()
        until = time.monotonic() + _TOLD_SECONDS
        while time.monotonic() < until:
            told = sorted(self.news.glob("told-*[0-9]"))
            if told:
                return "\n".join(path.read_text(errors="replace") for path in told)
            time.sleep(0.05)
        return ""


class Runner:
    """Runs each test in a worker, watches, and explains."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.options = config.option
        self.dir = Path(config.invocation_params.dir, self.options.tilescope_dir).absolute()
        self.worker: Optional[Worker] = None
        self.pages: List[str] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(
        self, item: pytest.Item, nextitem: Optional[pytest.Item]
    ) -> Optional[bool]:
        """One test."""
        hook = item.ihook
        hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        for report in self._reports(item, nextitem):
            hook.pytest_runtest_logreport(report=report)
        hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note where there is a page, and who has passed in spite of it."""
        for name, page in report.user_properties:
            if name == _PAGE:
                note = f": {report.nodeid} passed, and its chip hung" if report.passed else ""
                self.pages.append(f"{page}{note}")

    def pytest_sessionfinish(self) -> None:
        """No worker outlives the session."""
        self._retire()

    def pytest_unconfigure(self) -> None:
        """Leave nothing but tapes and pages, once all workers of xdist are done."""
        if not hasattr(self.config, "workerinput"):
            with contextlib.suppress(OSError):
                (self.dir / "run").rmdir()

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Where the pages are."""
        if self.pages:
            terminalreporter.section("tilescope")
            for page in self.pages:
                terminalreporter.write_line(page)

    def _retire(self) -> None:
        worker, self.worker = self.worker, None
        if worker is not None:
            worker.close()

    def _limit(self, item: pytest.Item) -> Optional[float]:
        """Seconds after which the test is ended from outside."""
        own = self.options.tilescope_timeout
        if own is not None:
            return float(own) or None
        marker = item.get_closest_marker("timeout")
        given = getattr(self.options, "timeout", None)
        if marker is not None:
            given = marker.args[0] if marker.args else marker.kwargs.get("timeout", given)
        # pytest-timeout itself comes first, where it can: it shows where Python stands.
        return float(given) + 5.0 if given else None

    def _reports(
        self, item: pytest.Item, nextitem: Optional[pytest.Item]
    ) -> List[pytest.TestReport]:
        paths = Paths.of(item.nodeid, self.dir)
        paths.clear()
        began = time.time()
        if self.worker is None:
            self.worker = Worker(self.config, paths.environment())
        shared = self.options.tilescope_share and nextitem is not None
        self.worker.begin(item, nextitem if shared else None, paths.environment())
        try:
            ended = self._watch(self.worker, paths, self._limit(item))
        except BaseException:
            self.worker.kill()
            self.worker = None
            raise
        hook = self.config.hook
        reports: List[pytest.TestReport] = [
            hook.pytest_report_from_serializable(config=self.config, data=data)
            for data in ended.reports
        ]
        failed = any(report.failed for report in reports) or ended.how is not None
        if ended.how is not None:
            reports.append(_lost(item, reports, ended, began))
        # A hang is never silent, and a test that passes has passed.
        hung = bool(reports) and bool(paths.hangs())
        if failed or hung:
            self._explain(reports, paths, ended, failed)
        else:
            paths.page.unlink(missing_ok=True)
            if self.options.tilescope_tapes == "failed":
                for tape in paths.tapes():
                    tape.unlink(missing_ok=True)
        if failed or (ended.open_chips and not self.options.tilescope_share):
            self._retire()
        shutil.rmtree(paths.news, ignore_errors=True)
        return reports

    def _watch(self, worker: Worker, paths: Paths, limit: Optional[float]) -> Ended:
        """Wait for the worker's word, a proved hang, or the limit."""
        began, hung = time.monotonic(), None
        while True:
            ended = worker.poll(0.1)
            if ended is not None:
                return ended
            now = time.monotonic()
            if hung is None and paths.hangs():
                hung = now
            if hung is not None and now - hung > self.options.tilescope_grace:
                return worker.kill("the chip hangs, which is proved; the test was ended")
            if limit is not None and now - began > limit:
                positions = "" if hung is not None else paths.positions()
                ended = worker.kill(f"the test was ended after {now - began:.0f} s")
                ended.positions = positions
                return ended

    def _explain(
        self, reports: List[pytest.TestReport], paths: Paths, ended: Ended, failed: bool
    ) -> None:
        """Put what is known into the failure, or the call that has passed, and onto the page."""
        hangs, tapes = paths.hangs(), paths.tapes()
        parts = [f"guest error: {line}" for line in paths.errors()]
        parts += [hang["text"].rstrip() for hang in hangs if hang.get("text")]
        if ended.positions:
            parts.append(ended.positions.rstrip())
        if not hangs and tapes:
            parts.append(_why(tapes[-1]))
        if parts and not paths.page.is_file():
            text = escape("\n\n".join(parts))
            paths.page.write_text(
                "<!doctype html><html lang=en><head><meta charset=utf-8><title>tilescope</title>"
                f"</head><body><h1>{escape(reports[-1].nodeid)}</h1><pre>{text}</pre></body></html>\n"
            )
        if paths.page.is_file():
            parts.append(f"page: {_shown(paths.page)}")
        parts += [f"tape: tilescope why {shlex.quote(_shown(tape))}" for tape in tapes]
        text = "\n\n".join(parts) if parts else "the test did not open the chip"
        for report in reports:
            if report.failed if failed else report.when == "call":
                report.sections.append(("tilescope", text))
                if paths.page.is_file():
                    # Comes to who writes the summary from workers of xdist too, and into JUnit XML.
                    report.user_properties.append((_PAGE, _shown(paths.page)))
                break


def _shown(path: Path) -> str:
    """A path as one would type it here."""
    short = os.path.relpath(path)
    return str(path) if short.startswith("..") else short


def _why(tape: Path) -> str:
    """What the tape of a test says that has failed without a proved hang."""
    try:
        done = ask("why", str(tape), timeout=_WHY_SECONDS)
    except subprocess.TimeoutExpired:
        return f"the tape is long: no explanation within {_WHY_SECONDS} s"
    return (done.stdout if done.returncode != 2 else done.stderr).strip()


def _lost(
    item: pytest.Item, reports: List[pytest.TestReport], ended: Ended, began: float
) -> pytest.TestReport:
    """The report of a phase whose process did not live to write it."""
    phases = ("setup", "call", "teardown")
    when = phases[min(len(reports), 2)]
    return pytest.TestReport(
        nodeid=item.nodeid,
        location=item.location,
        keywords={name: 1 for name in item.keywords},
        outcome="failed",
        longrepr=f"{when}: {ended.how}",
        when=when,  # type: ignore[arg-type]
        duration=time.time() - began,
        start=began,
        stop=time.time(),
    )
