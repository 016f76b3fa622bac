"""A plan or a tape, stepped through."""

from __future__ import annotations

import json
import math
import os
import subprocess
import tempfile
import threading
from dataclasses import dataclass
from html import escape
from typing import IO, Any, Dict, Iterator, List, Optional, Sequence, Tuple

from . import _formats
from ._command import binary
from ._errors import BY_VERDICT, NoProgress, TilescopeError
from ._explanation import Explanation, PathLike

#: Cycles of a request: few enough that Ctrl-C is heeded soon.
_SLICE = 500_000
#: Of one whose events are gathered.
_EVENT_SLICE = 20_000
#: Calls of a tape.
_CALLS = 20_000


@dataclass(frozen=True)
class Status:
    """How a session stands.

    Attributes:
        cycle: AI-clock cycles since power-on.
        stage: `boot` or the launch's name; of a tape `session` or `closed`.
        verdict: how it ended (`DONE`, `DEADLOCK` ...; `END` of a tape); None while it can go on.
        message: the same in words.
        call: of a tape, the number of the next call.
    """

    cycle: int
    stage: str
    verdict: Optional[str]
    message: Optional[str]
    call: Optional[int] = None


@dataclass(frozen=True)
class Core:
    """A baby RISC-V core: its `state`, where it is, and what it waits for (empty if it does not)."""

    name: str
    state: str
    pc: int
    function: str
    line: str
    waits: str


@dataclass(frozen=True)
class Gate:
    """The wait gate of a Tensix thread: what it waits for (None if it is open), and which instruction."""

    thread: str
    waits: Optional[str]
    instruction: str


@dataclass(frozen=True)
class Buffer:
    """A circular buffer: pages pushed and popped so far, held now, and at most."""

    index: int
    pushed: int
    popped: int
    held: int
    pages: int


class Session:
    """A tile that carries out a plan, or a chip that plays the tape of a host program.

    It lives in a process of its own. Not to be used on both sides of a fork.

    Args:
        session: a plan (`KERNELS.toml`), a tape or a recording; None boots a tile.
        events: keep events, for `events()`.
        tile: of a tape, the tile that is looked at, by the runtime's worker coordinates (x, y).
        max_cycles: limit of `run()`.
        options: further options of `tilescope launch`, by name: `embedded=True`,
            `timing="documented"`, `firmware="8/140"`, `epoch=1`, `warn=["..."]`.

    Raises:
        TilescopeError: the plan or the tape is of no use; the message says why.
    """

    def __init__(
        self,
        session: Optional[PathLike] = None,
        *,
        events: bool = False,
        tile: Tuple[int, int] = (0, 0),
        max_cycles: int = 100_000_000,
        **options: Any,
    ) -> None:
        words = [binary(), "serve"]
        if session is not None:
            words.append(os.fspath(session))
        if events:
            words.append("--events")
        if tile != (0, 0):
            words += ["--tile", f"{tile[0]},{tile[1]}"]
        words += _options(options)
        self.max_cycles = max_cycles
        self._lock = threading.Lock()
        self._owner = os.getpid()
        self._complaints: IO[bytes] = tempfile.TemporaryFile()
        # Ctrl-C is heeded here, between two requests, and not by the process.
        self._process: "Optional[subprocess.Popen[bytes]]" = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            start_new_session=True,
        )
        try:
            self._status: Dict[str, Any] = self._answer()["status"]
        except BaseException:
            self.close()
            raise

    # The process.

    def _answer(self) -> Any:
        process = self._process
        assert process is not None and process.stdout is not None
        line = process.stdout.readline()
        if not line.endswith(b"\n"):
            process.wait()
            self._complaints.seek(0)
            text = self._complaints.read().decode(errors="replace").strip()
            self.close()
            text = text[len("error: ") :] if text.startswith("error: ") else text
            raise TilescopeError(text or f"the session ended with status {process.returncode}")
        answer = json.loads(line)
        if "error" in answer:
            raise TilescopeError(answer["error"])
        if "bytes" in answer:
            return process.stdout.read(answer["bytes"])
        return answer["ok"]

    def _ask(self, do: str, payload: bytes = b"", **more: Any) -> Any:
        if os.getpid() != self._owner:
            raise TilescopeError("the session belongs to the process that has begun it")
        with self._lock:
            process = self._process
            if process is None or process.stdin is None:
                raise TilescopeError("the session is closed")
            if payload:
                more["bytes"] = len(payload)
            line = json.dumps({"do": do, **more}).encode() + b"\n"
            try:
                process.stdin.write(line + payload)
                process.stdin.flush()
            except BrokenPipeError:
                pass
            try:
                return self._answer()
            except KeyboardInterrupt:
                # What is under way is short; its answer must not be taken for the next one's.
                self._answer()
                raise

    def close(self) -> None:
        """End the session. Closed twice is closed."""
        process, self._process = self._process, None
        if process is None or os.getpid() != self._owner:
            return
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except BrokenPipeError:
                    pass
        try:
            process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_process", None) is not None:
            self.close()

    # Going on.

    @property
    def status(self) -> Status:
        """How it stands."""
        now = self._status
        return Status(
            now["cycle"], now["stage"], now["verdict"], now.get("message"), now.get("call")
        )

    @property
    def cycle(self) -> int:
        """AI-clock cycles since power-on."""
        return int(self._status["cycle"])

    @property
    def over(self) -> bool:
        """Whether there is nothing more to see."""
        return self._status["verdict"] is not None

    def step(self, cycles: Optional[int] = None, *, calls: Optional[int] = None) -> Status:
        """Go on for so many cycles (one epoch, unless said), or calls of a tape, and raise nothing.

        A cycle within an epoch is rounded up to its end, and a call of a tape is not divided.
        """
        if cycles is None and calls is None:
            cycles = 1
        left, count = cycles, calls
        began = self.cycle
        while not self.over and (left is None or left > 0) and (count is None or count > 0):
            ask: Dict[str, Any] = {}
            if left is not None:
                ask["cycles"] = min(left, _SLICE)
            if count is not None or self._status["kind"] == "tape":
                ask["calls"] = min(_CALLS if count is None else count, _CALLS)
            before = self._status.get("call") or 0
            self._status = self._ask("run", **ask)
            if cycles is not None:
                left = cycles - (self.cycle - began)
            if count is not None:
                count -= (self._status.get("call") or 0) - before
        return self.status

    def run(self, max_cycles: Optional[int] = None) -> "Session":
        """Go on to the end.

        Raises:
            Deadlock, HostWait, GuestError, NotSimulated, WrongResult: a plan ended so.
            NoProgress: the limit of cycles came first.
        """
        if self._status["kind"] == "tape":
            while not self.over:
                self.step(calls=_CALLS)
            return self
        self.step(self.max_cycles if max_cycles is None else max_cycles)
        verdict = self._status["verdict"] or "NO-PROGRESS"
        if verdict == "DONE":
            return self
        if verdict == "NO-PROGRESS":
            raise NoProgress(f"{self.status.stage}: not done at cycle {self.cycle}")
        try:
            explanation: Optional[Explanation] = self.explain()
            text = explanation.text if explanation is not None else ""
        except TilescopeError as error:
            explanation, text = None, f"{self.status.message}\n(no explanation: {error})"
        raise BY_VERDICT.get(verdict, TilescopeError)(text.rstrip(), explanation)

    def events(self) -> Iterator[Dict[str, Any]]:
        """Go on to the end and give every event on the way, as docs/events.md describes them.

        Those that are kept from before come first. Stop at any time: the session stands some
        thousands of cycles further than the last event.
        """
        while True:
            for line in self._ask("events").splitlines():
                event = json.loads(line)
                if "event" in event:
                    yield event
            if self.over:
                return
            if self._status["kind"] == "tape":
                self.step(calls=_CALLS)
            else:
                self.step(_EVENT_SLICE)

    def explain(self) -> Explanation:
        """Why it ends as it does. The plan or tape is run anew for that, to its end."""

        def form(name: str) -> str:
            return bytes(self._ask("explain", form=name)).decode()

        return Explanation(json.loads(form("json")), form)

    # Looking.

    def read(self, address: int, size: int) -> bytes:
        """Bytes of L1."""
        return bytes(self._ask("read", address=address, size=size))

    def write(self, address: int, data: bytes) -> None:
        """Write L1, as a host does. A plan that was changed so is not explained any more."""
        self._status = self._ask("write", bytes(data), address=address)

    def l1(
        self, address: int, count: int, format: str = "uint32", *, tiles: bool = False
    ) -> "_formats.Array":
        """`count` numbers of L1 from a byte address on.

        Args:
            format: fp32, tf32, bf16, fp16, fp8_e5m2, int32, int16, int8, uint32, uint16, uint8, or with
                an exponent for 16 numbers bfp8, bfp4, bfp2, bfp8a, bfp4a, bfp2a.
            tiles: `count` is of tiles of 32 by 32, which lie there as four faces each; each tile has its
                own exponents.

        Returns:
            Shape (count,), or (count, 32, 32) with `tiles`. Floating-point formats as float32.
        """
        if not tiles:
            return _formats.decode(self.read(address, _formats.size(count, format)), count, format)
        each = _formats.size(1024, format)
        data = self.read(address, each * count)
        numbers = [
            _formats.decode(data[at : at + each], 1024, format)
            for at in range(0, each * count, each)
        ]
        numpy = _formats.np()
        flat = numpy.concatenate(numbers) if numbers else numpy.empty(0, "<f4")
        return _formats.untilize(flat)

    def registers(
        self, *patterns: str, format: str = "auto", rows: Optional[Sequence[int]] = None
    ) -> Dict[str, Any]:
        """Registers by name, as `tilescope state --json` has them (docs/state.md).

        Args:
            patterns: such as `"tensix.adc.T1"` or `"lreg*"`; none means all that is not zero.
            format: of Src, Dst, LRegs and GPRs: auto, raw, fp32, tf32, bf16, fp16, int8, int16, int32.
            rows: first row and the one behind the last, of Src and Dst.
        """
        options = ["--format", format]
        for pattern in patterns:
            options += ["--show", pattern]
        if rows is not None:
            options += ["--rows", f"{rows[0]}..{rows[1]}"]
        return dict(self._ask("registers", options=options))

    def _cells(self, path: str, format: str, count: int) -> "_formats.Array":
        found: Any = self.registers(path, format=format, rows=(0, count))
        for part in path.split("."):
            found = found[part]
        raw = found["format"] == "raw"
        numpy = _formats.np()
        integer = raw or found["format"].startswith("int")
        dtype = ("<u4" if raw else "<i4") if integer else "<f4"
        values = [_numbers(row["values"], integer) for row in found["rows"]]
        cells: _formats.Array = numpy.array(values, dtype).reshape(-1, 16)
        return cells

    def dst(self, format: str = "auto", *, wide: Optional[bool] = None) -> "_formats.Array":
        """Dst: shape (1024, 16) of half-words, or (512, 16) of words.

        Args:
            format: auto takes what the configuration of T1 says; else raw, fp32, tf32, bf16, fp16,
                int8, int16, int32.
            wide: words or half-words; unless said, what suits the format.

        Returns:
            float32; integers of int formats as int32; raw as uint32, as stored. Rows that are not
            valid read as zero.
        """
        if wide is None and format in ("auto", "raw"):
            both = self.registers("tensix.dst.rows16", "tensix.dst.rows32", rows=(0, 1))
            wide = bool(both["tensix"]["dst"]["rows32"]["in_force"])
        elif wide is None:
            wide = format in ("fp32", "tf32", "int32")
        path, count = ("tensix.dst.rows32", 512) if wide else ("tensix.dst.rows16", 1024)
        return self._cells(path, format, count)

    def src(self, which: str, bank: int = 0, format: str = "auto") -> "_formats.Array":
        """SrcA or SrcB: shape (64, 16).

        Args:
            which: `"a"` or `"b"`.
            bank: 0 or 1.
            format: auto takes the one that the unpacker recorded; else as of `dst`.
        """
        which = which.lower()
        if which not in ("a", "b") or bank not in (0, 1):
            raise TilescopeError(f"no bank {bank} of Src{which.upper()}: there are A and B, 0 and 1")
        return self._cells(f"tensix.src.{which}.bank{bank}", format, 64)

    def lregs(self, format: str = "raw") -> "_formats.Array":
        """Vector registers: shape (17, 32), register by lane. Raw as uint32; formats as of `dst`."""
        found = self.registers("lreg*", format=format)["tensix"]["vector"]
        raw, integer = format in ("raw", "auto"), format.startswith("int")
        numpy = _formats.np()
        dtype = "<u4" if raw else "<i4" if integer else "<f4"
        rows = []
        for register in range(17):
            lanes = found[f"lreg{register}"]
            lanes = lanes["values"] if isinstance(lanes, dict) else lanes
            rows.append(_numbers(lanes, raw or integer))
        registers: _formats.Array = numpy.array(rows, dtype)
        return registers

    @property
    def semaphores(self) -> Dict[str, int]:
        """The coprocessor's eight semaphores by name, with their values."""
        return dict(self._ask("look")["semaphores"])

    @property
    def buffers(self) -> Dict[int, Buffer]:
        """Circular buffers of the launch under way, by index."""
        return {one["index"]: Buffer(**one) for one in self._ask("look")["buffers"]}

    @property
    def cores(self) -> Dict[str, Core]:
        """The five cores by name."""
        found = self._ask("look")["cores"]
        keys = ("core", "state", "pc", "function", "line", "waits")
        return {one["core"]: Core(*(one[key] for key in keys)) for one in found}

    @property
    def gates(self) -> Dict[str, Gate]:
        """The wait gates of the three Tensix threads by name."""
        found = self._ask("look")["gates"]
        return {one["thread"]: Gate(one["thread"], one["waits"], one["instruction"]) for one in found}

    def __repr__(self) -> str:
        if self._process is None:
            return "<Session, closed>"
        now = self.status
        return f"<Session {now.stage} at cycle {now.cycle}: {now.verdict or 'can go on'}>"

    def _repr_html_(self) -> str:
        if self._process is None:
            return "<p>closed</p>"
        now, look = self.status, self._ask("look")
        rows = "".join(
            f"<tr><td>{escape(one['core'])}</td><td>{escape(one['state'])}</td>"
            f"<td>{one['pc']:#x}</td><td>{escape(one['function'])} {escape(one['line'])}</td>"
            f"<td>{escape(one['waits'])}</td></tr>"
            for one in look["cores"]
        )
        held = ", ".join(f"{escape(name)} {value}" for name, value in look["semaphores"].items())
        return (
            f"<p><b>{escape(now.stage)}</b> at cycle {now.cycle}: "
            f"{escape(now.verdict or 'can go on')}</p>"
            "<table><tr><th>core</th><th>state</th><th>pc</th><th>where</th><th>waits for</th></tr>"
            f"{rows}</table><p>semaphores: {held}</p>"
        )


def _numbers(values: List[Any], integer: bool) -> List[Any]:
    """Numbers as JSON has them: infinities and NaN are strings."""
    if integer:
        return values
    named = {"inf": math.inf, "-inf": -math.inf, "NaN": math.nan}
    return [named[value] if isinstance(value, str) else value for value in values]


def _options(options: Dict[str, Any]) -> List[str]:
    """Options of the command line: `stale_icache=True` is --stale-icache."""
    words: List[str] = []
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        if value is True:
            words.append(option)
        elif value is not None and value is not False:
            several = isinstance(value, (list, tuple))
            words.append(f"{option}={','.join(map(str, value)) if several else value}")
    return words


def run(plan: PathLike, **options: Any) -> Session:
    """Carry out a plan to its end; see `Session` for the options and `Session.run` for the errors."""
    return Session(plan, **options).run()


def replay(tape: PathLike, *, tile: Tuple[int, int] = (0, 0), **options: Any) -> Session:
    """A session before the first call of a tape or recording; `tile` is the one that is looked at."""
    return Session(tape, tile=tile, **options)
