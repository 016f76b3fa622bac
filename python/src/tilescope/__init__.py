"""See what a Tensix tile does, from Python.

    import tilescope

    session = tilescope.Session("KERNELS.toml")
    session.run()                              # a Deadlock, GuestError ... carries the diagnosis
    session.l1(0x40000, 16, "bf16")            # numpy arrays, if numpy is there
    session.dst("fp32"), session.semaphores, session.buffers
    tilescope.why("program.tstape").text       # why a host program hung

`Session` steps through a plan or the tape of a host program, `why` explains either, `Chip` is a whole
chip within this process, over the C library. Times are cycles of the AI clock since power-on.
"""

from ._chip import Chip
from ._command import binary, library, version
from ._errors import (
    Deadlock,
    GuestError,
    HostWait,
    NoProgress,
    NotSimulated,
    TilescopeError,
    WrongResult,
)
from ._explanation import Explanation, Wait, why
from ._session import Buffer, Core, Gate, Session, Status, replay, run

__version__ = version()

__all__ = [
    "Buffer",
    "Chip",
    "Core",
    "Deadlock",
    "Explanation",
    "Gate",
    "GuestError",
    "HostWait",
    "NoProgress",
    "NotSimulated",
    "Session",
    "Status",
    "TilescopeError",
    "Wait",
    "WrongResult",
    "__version__",
    "binary",
    "library",
    "replay",
    "run",
    "why",
]
