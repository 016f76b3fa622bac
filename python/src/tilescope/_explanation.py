"""Why a run ended as it did, as an object."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from html import escape
from typing import Any, Callable, Dict, List, Optional, Tuple, Union

from ._command import ask
from ._errors import TilescopeError

PathLike = Union[str, "os.PathLike[str]"]


@dataclass(frozen=True)
class Wait:
    """Somebody who waits.

    Attributes:
        tile: worker coordinates on a chip; None for a plan, which has one tile.
        agent: `BRISC`, `Tensix T1` and the like.
        text: what it waits for.
        since: cycle, if known.
        pc: address of the instruction that waits, or that pushed it.
        place: function, file and line, if known.
        stuck: it can never move again.
        root: it is part of the cause.
    """

    tile: Optional[Tuple[int, int]]
    agent: str
    text: str
    since: Optional[int]
    pc: Optional[int]
    place: Optional[str]
    stuck: bool
    root: bool


def _place(code: Optional[Dict[str, Any]]) -> Optional[str]:
    if not code:
        return None
    place = code["function"]
    if code.get("file"):
        place += " " + code["file"]
        if code.get("line"):
            place += ":" + str(code["line"])
    return str(place)


class Explanation:
    """How a run ended and why: of a plan, or of the tape of a host program.

    Attributes:
        data: the whole, as `tilescope why --json` prints it.
    """

    def __init__(self, data: Dict[str, Any], form: Callable[[str], str]) -> None:
        self.data = data
        self._form = form
        self._forms: Dict[str, str] = {}

    def form(self, name: str) -> str:
        """The explanation as `text`, `html` (a page of its own), `sarif`, `json`; of a plan also as `dot`."""
        if name not in self._forms:
            self._forms[name] = self._form(name)
        return self._forms[name]

    @property
    def verdict(self) -> str:
        """`DONE`, `DEADLOCK`, `HOST-WAIT`, `GUEST-ERROR`, `NO-PROGRESS`, `WRONG-RESULT`, `HALTED`."""
        return str(self.data.get("verdict") or self.data["end"])

    @property
    def hangs(self) -> bool:
        """Whether somebody waits for ever."""
        return self.verdict in ("DEADLOCK", "HOST-WAIT")

    @property
    def cycle(self) -> int:
        """Cycle in which the end was found."""
        return int(self.data.get("found", self.data.get("cycle", 0)))

    @property
    def _parts(self) -> "List[Tuple[Optional[Tuple[int, int]], Dict[str, Any]]]":
        tiles = self.data.get("tiles")
        if tiles is None:
            return [(None, self.data)] if "waits" in self.data else []
        return [((one["tile"][0], one["tile"][1]), one["explanation"]) for one in tiles]

    @property
    def headline(self) -> str:
        """The cause in one sentence."""
        for _, part in self._parts:
            return str(part["headline"])
        return "no hang"

    @property
    def hazards(self) -> List[str]:
        """Ids of what was named, the cause first, as docs/hazards.md lists them; each once."""
        found: List[str] = []
        for _, part in self._parts:
            named = [part.get("hazard")] + [one["hazard"] for one in part.get("findings", [])]
            found += [one["id"] for one in named if one and one["id"] not in found]
        return list(dict.fromkeys(found))

    @property
    def missing(self) -> Optional[str]:
        """What would have to happen next, and why it cannot."""
        for _, part in self._parts:
            if part.get("missing"):
                return str(part["missing"])
        return None

    @property
    def waits(self) -> List[Wait]:
        """Everybody who waits, on all tiles that are spoken of."""
        return [
            Wait(
                tile,
                wait["agent"],
                wait["text"],
                wait.get("since"),
                wait.get("pc"),
                _place(wait.get("code")),
                bool(wait.get("stuck")),
                bool(wait.get("root")),
            )
            for tile, part in self._parts
            for wait in part["waits"]
        ]

    @property
    def text(self) -> str:
        """The explanation as a person reads it in a terminal."""
        return self.form("text")

    @property
    def html(self) -> str:
        """The explanation as a page of its own."""
        return self.form("html")

    def save(self, path: PathLike) -> None:
        """Write it to a file, in the form that its extension names: .html, .json, .sarif, .dot, else text."""
        extension = os.path.splitext(os.fspath(path))[1].lstrip(".")
        form = {"htm": "html"}.get(extension, extension)
        known = form in ("html", "json", "sarif", "dot")
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.form(form if known else "text"))

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<Explanation {self.verdict} at cycle {self.cycle}: {self.headline}>"

    def _repr_html_(self) -> str:
        page = escape(self.html, quote=True)
        return (
            f"<p><b>{escape(self.verdict)}</b> at cycle {self.cycle}: {escape(self.headline)}</p>"
            f'<iframe srcdoc="{page}" style="width:100%;height:32em;border:1px solid #ccc"></iframe>'
        )


def why(session: PathLike, *options: str) -> Explanation:
    """Why a plan (`KERNELS.toml`) or a host program (its tape) ends as it does.

    Args:
        session: the plan, the tape, or a recording.
        options: further options of `tilescope why`, such as `"--embedded"`.

    Raises:
        TilescopeError: the file is of no use.
    """
    path = os.fspath(session)

    def form(name: str) -> str:
        words = {"text": [], "json": ["--json"]}.get(name, [f"--{name}", "-"])
        done = ask("why", path, *options, *words)
        if done.returncode == 2:
            raise TilescopeError(done.stderr.strip())
        return done.stdout

    text = form("json")
    explanation = Explanation(json.loads(text), form)
    explanation._forms["json"] = text
    return explanation
