"""What makes a wheel of this package a wheel for a platform: the program, the libraries, the tag.

They are taken from the directory that `TILESCOPE_NATIVE` names; `.ci/dist` sets it.
"""

import os
import platform
import re
from pathlib import Path
from typing import Any, Dict, Tuple

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FILES = ("tilescope", "libtilescope_bh.so", "libtilescope_record.so")


def needed_glibc(path: Path) -> Tuple[int, int]:
    """The newest version of glibc that a file asks for.

    Names of versions lie in the file as they are, so that none can be missed; a string of the program
    that looks like one would ask for too much rather than too little.
    """
    found = re.findall(rb"GLIBC_(\d+)\.(\d+)", path.read_bytes())
    return max((int(major), int(minor)) for major, minor in found)


class Native(BuildHookInterface):  # type: ignore[type-arg]
    """The hook that hatchling calls."""

    def initialize(self, version: str, build_data: Dict[str, Any]) -> None:
        """Add the files and name the platform."""
        if version == "editable":
            return
        named = os.environ.get("TILESCOPE_NATIVE")
        if not named:
            raise SystemExit("TILESCOPE_NATIVE names no directory: `.ci/dist` makes the wheel")
        files = [Path(named, name) for name in FILES]
        for path in files:
            if not path.is_file():
                raise SystemExit(f"no {path}: `cargo build --profile dist -p tools -p ffi -p recorder`")
        major, minor = max(needed_glibc(path) for path in files)
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-manylinux_{major}_{minor}_{platform.machine()}"
        for path in files:
            build_data["force_include"][str(path)] = f"tilescope/native/{path.name}"
