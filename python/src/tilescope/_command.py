"""The program and the libraries that lie in this package."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import NoReturn

from ._errors import TilescopeError

_OWN = Path(__file__).with_name("native")
#: File name of the library that hosts of the vendor's stack load.
LIBRARY = "libtilescope_bh.so"


@lru_cache(maxsize=None)
def binary() -> str:
    """Path of the program `tilescope`: the one of this package, else the first in PATH.

    In a checkout there is none in the package; `TILESCOPE_BINARY` names one.

    Raises:
        TilescopeError: there is none.
    """
    named = os.environ.get("TILESCOPE_BINARY")
    if named:
        return named
    own = _OWN / "tilescope"
    found = str(own) if own.is_file() else shutil.which("tilescope")
    if not found:
        raise TilescopeError(
            "no program tilescope: install the wheel, or name one with TILESCOPE_BINARY"
        )
    return found


def library() -> str:
    """Path of `libtilescope_bh.so`, the library that ttnn and others load; it lies beside the program.

    Raises:
        TilescopeError: there is none.
    """
    path = Path(binary()).resolve().with_name(LIBRARY)
    if not path.is_file():
        raise TilescopeError(f"no {LIBRARY} beside {binary()}")
    return str(path)


def version() -> str:
    """Version of this package."""
    try:
        return metadata.version("tilescope")
    except metadata.PackageNotFoundError:
        return "0+checkout"


def ask(*words: str, timeout: "float | None" = None) -> "subprocess.CompletedProcess[str]":
    """Run the program and give what it says; its exit status is the caller's affair."""
    return subprocess.run(
        [binary(), *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        timeout=timeout,
        check=False,
    )


def main() -> NoReturn:
    """Become the program: signals and exit status are its own."""
    try:
        program = binary()
        os.execv(program, [program, *sys.argv[1:]])
    except (TilescopeError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(2) from None
