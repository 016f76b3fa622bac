"""A process that runs tests for `pytest_plugin`: both of its ends.

Messages are pickles with their length before them, over a pair of pipes; both ends are ours. What a
worker is made of follows pytest's own way of building a configuration from another one's options.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import struct
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Optional

if TYPE_CHECKING:
    import pytest

#: Set in a worker: the plugin is not to start another.
WORKER_VARIABLE = "TILESCOPE_PYTEST_WORKER"
#: Seconds in which a worker may tear down what it has.
_PATIENCE = 20.0
_LENGTH = struct.Struct("<Q")


def _send(pipe: int, message: Any) -> None:
    data = pickle.dumps(message)
    data = _LENGTH.pack(len(data)) + data
    while data:
        data = data[os.write(pipe, data) :]


def _exactly(pipe: int, count: int) -> bytes:
    data = b""
    while len(data) < count:
        more = os.read(pipe, count - len(data))
        if not more:
            raise EOFError
        data += more
    return data


def _receive(pipe: int) -> Any:
    (length,) = _LENGTH.unpack(_exactly(pipe, _LENGTH.size))
    return pickle.loads(_exactly(pipe, length))


@dataclass
class Ended:
    """How a test ended: the reports that came, and why not all did, if so."""

    reports: List[Dict[str, Any]] = field(default_factory=list)
    how: Optional[str] = None
    positions: str = ""
    open_chips: int = 0


def _plain(options: Dict[str, Any]) -> Dict[str, Any]:
    """Options as a worker takes them: those that can travel, and nothing that starts further workers,
    writes results of the whole session, or talks to a person."""
    plain = {}
    for name, value in options.items():
        try:
            pickle.dumps(value)
        except Exception:  # Whatever a plugin keeps there.
            continue
        plain[name] = value
    silent = {"dist": "no", "tx": [], "looponfail": False, "distload": False, "usepdb": False}
    nothing = ("numprocesses", "maxprocesses", "xmlpath", "htmlpath", "report_log")
    silent.update(dict.fromkeys(nothing))
    plain.update({name: value for name, value in silent.items() if name in plain})
    # The arguments come as such.
    for name in ("file_or_dir", "_raise_print_help"):
        plain.pop(name, None)
    return plain


class Worker:
    """The end of who watches."""

    def __init__(self, config: "pytest.Config", environment: Dict[str, str]) -> None:
        inputs: Dict[str, Any] = getattr(config, "workerinput", {})
        there, self._to = os.pipe()
        self._from, back = os.pipe()
        words = [sys.executable, "-m", __name__, str(there), str(back)]
        self._process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            pass_fds=(there, back),
            env={**os.environ, **environment, WORKER_VARIABLE: "1"},
            # One signal ends it and all that its tests have started.
            start_new_session=True,
        )
        os.close(there)
        os.close(back)
        self._ended = Ended()
        self._try_send(
            {
                "options": _plain(dict(vars(config.option))),
                "args": [str(arg) for arg in config.args],
                "argv": inputs.get("mainargv", sys.argv),
                "path": sys.path,
                "dir": str(config.invocation_params.dir),
                "workerinput": {name: inputs[name] for name in inputs if name != "mainargv"},
            }
        )

    def _try_send(self, message: Any) -> None:
        try:
            _send(self._to, message)
        except BrokenPipeError:
            # The next look finds that it is gone.
            pass

    def begin(
        self,
        item: "pytest.Item",
        nextitem: "Optional[pytest.Item]",
        environment: Dict[str, str],
    ) -> None:
        """Have it run a test."""
        self._ended = Ended()
        names = [one.nodeid for one in (item, nextitem) if one is not None]
        shared = bool(item.config.option.tilescope_share)
        where = None if shared else _argument(item)
        self._try_send({"names": names, "where": where, "environment": environment})

    def poll(self, seconds: float) -> Optional[Ended]:
        """What has become of the test, if that is known within some time."""
        ready, _, _ = select.select([self._from], [], [], seconds)
        if not ready:
            return None
        try:
            kind, value = _receive(self._from)
        except EOFError:
            status = self._process.wait()
            if status < 0:
                text = f"the process of the test was ended by {signal.Signals(-status).name}"
            else:
                text = f"the process of the test ended with status {status}"
            return self.kill(text)
        if kind == "report":
            self._ended.reports.append(value)
            return None
        if kind == "broken":
            return self.kill(value)
        self._ended.open_chips = value
        return self._ended

    def kill(self, how: Optional[str] = None) -> Ended:
        """End it and all that it has started, at once."""
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self._process.wait()
        self._close_pipes()
        self._ended.how = how
        return self._ended

    def close(self) -> None:
        """Have it tear down what it has, and end."""
        if self._to < 0:
            return
        self._try_send(None)
        try:
            self._process.wait(timeout=_PATIENCE)
        except subprocess.TimeoutExpired:
            pass
        self.kill()

    def _close_pipes(self) -> None:
        for pipe in (self._to, self._from):
            if pipe >= 0:
                os.close(pipe)
        self._to = self._from = -1


def _argument(item: "pytest.Item") -> str:
    """The test as an argument that is found from any directory."""
    path, separator, rest = item.nodeid.partition("::")
    return str(Path(item.config.rootpath, path)) + separator + rest


# The end of who runs.


class _Loop:
    """Takes the place of pytest's own loop: tests come one at a time."""

    def __init__(self, config: Any, there: int, back: int) -> None:
        self.config, self.there, self.back = config, there, back
        self.directories: Dict[str, None] = {}
        self.all: Dict[str, Any] = {}

    def pytest_collection(self) -> bool:
        """Each test is looked for when it comes."""
        return True

    def pytest_runtestloop(self, session: Any) -> bool:
        """Run what is asked for until nothing more is."""
        while True:
            try:
                asked = _receive(self.there)
            except EOFError:
                asked = None
            if asked is None:
                return True
            os.environ.update(asked["environment"])
            self.directories[asked["environment"]["TILESCOPE_RUN_DIR"]] = None
            items = self._find(session, asked)
            if items is not None:
                self.config.hook.pytest_runtest_protocol(
                    item=items[0], nextitem=items[1] if len(items) > 1 else None
                )
                _send(self.back, ("done", self._open_chips()))

    def _find(self, session: Any, asked: Dict[str, Any]) -> Optional[List[Any]]:
        try:
            # Tests that share fixtures come from one collection, others are looked for one by one.
            if asked["where"] is not None:
                found = session.perform_collect([asked["where"]])
            else:
                found = [] if self.all else session.perform_collect()
                self.all.update((item.nodeid, item) for item in found)
            named = self.all or {item.nodeid: item for item in found}
            return [named[name] for name in asked["names"]]
        except KeyError as error:
            _send(self.back, ("broken", f"the worker does not find the test {error}"))
        except Exception as error:  # Whatever a suite raises while it is collected.
            _send(self.back, ("broken", f"the worker cannot collect the test: {error}"))
        return None

    def _open_chips(self) -> int:
        """Chips of this process that are still open."""

        def lines(what: str) -> int:
            paths = [Path(one, f"{what}-{os.getpid()}") for one in self.directories]
            return sum(len(path.read_text().splitlines()) for path in paths if path.is_file())

        return max(lines("session") - lines("ended"), 0)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Pass it on."""
        hook = self.config.hook
        data = hook.pytest_report_to_serializable(config=self.config, report=report)
        _send(self.back, ("report", data))


def _work(there: int, back: int) -> None:
    asked = _receive(there)
    sys.argv[:], sys.path[:] = asked["argv"], asked["path"]
    os.chdir(asked["dir"])
    from _pytest.config import Config

    args = ["-p", "no:terminal", *asked["args"]]
    config = Config.fromdictargs(asked["options"], args)
    if asked["workerinput"]:
        config.workerinput = asked["workerinput"]  # type: ignore[attr-defined]
    config.pluginmanager.register(_Loop(config, there, back), "tilescope-worker")
    config.hook.pytest_cmdline_main(config=config)


if __name__ == "__main__":
    pipes = [int(word) for word in sys.argv[1:3]]
    for pipe in pipes:
        os.set_inheritable(pipe, False)
    _work(*pipes)
