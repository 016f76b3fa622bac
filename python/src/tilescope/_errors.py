"""What goes wrong, by kind; each error carries the diagnosis."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._explanation import Explanation


class TilescopeError(Exception):
    """Base of all errors; by itself a mistake on the host's side: a plan, a file, an argument.

    Attributes:
        explanation: why the run ended so, where a run ended; else None.
    """

    def __init__(self, message: str, explanation: "Explanation | None" = None) -> None:
        super().__init__(message)
        self.explanation = explanation

    def _repr_html_(self) -> str:
        if self.explanation is not None:
            return self.explanation._repr_html_()
        from html import escape

        return f"<pre>{escape(str(self))}</pre>"


class Deadlock(TilescopeError):
    """Nobody can ever move again: it is proved."""


class HostWait(TilescopeError):
    """Everybody waits for the host, which has nothing more to do."""


class GuestError(TilescopeError):
    """Firmware or a kernel did what the hardware forbids, or halted at an `ebreak`."""


class NotSimulated(TilescopeError):
    """A kernel needs what is not simulated, or what no public source describes."""


class NoProgress(TilescopeError):
    """The limit of cycles came first."""


class WrongResult(TilescopeError):
    """Memory is not as the plan expects."""


#: By the verdicts of reports.
BY_VERDICT: "dict[str, type[TilescopeError]]" = {
    "DEADLOCK": Deadlock,
    "HOST-WAIT": HostWait,
    "GUEST-ERROR": GuestError,
    "HALTED": GuestError,
    "NOT-SIMULATED": NotSimulated,
    "NO-PROGRESS": NoProgress,
    "WRONG-RESULT": WrongResult,
}
