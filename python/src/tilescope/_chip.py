"""A whole chip within this process, over the C library (`ffi/include/tilescope.h`)."""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import Any, List, Optional

from ._command import library
from ._errors import GuestError, TilescopeError

_OK, _INVALID, _REFUSED, _GUEST, _BROKEN = range(5)


@lru_cache(maxsize=None)
def _functions() -> Any:
    """The library with the types of its functions; each line is one of the header."""
    c, chip = ctypes, ctypes.c_void_p
    loaded = c.CDLL(library())
    numbers = {
        "tilescope_create": [c.POINTER(c.c_char_p), c.POINTER(chip)],
        "tilescope_tile_read": [chip, c.c_uint32, c.c_uint32, c.c_uint64, c.c_char_p, c.c_size_t],
        "tilescope_tile_write": [chip, c.c_uint32, c.c_uint32, c.c_uint64, c.c_char_p, c.c_size_t],
        "tilescope_clock": [chip, c.c_uint32],
        "tilescope_now": [chip, c.POINTER(c.c_uint64)],
        "tilescope_state_hash": [chip, c.POINTER(c.c_uint64)],
    }
    for name, arguments in numbers.items():
        function = getattr(loaded, name)
        function.argtypes, function.restype = arguments, c.c_int
    for name in ("tilescope_error", "tilescope_report"):
        function = getattr(loaded, name)
        function.argtypes, function.restype = [chip, c.c_char_p, c.c_size_t], c.c_size_t
    loaded.tilescope_destroy.argtypes, loaded.tilescope_destroy.restype = [chip], None
    return loaded


def _text(function: Any, chip: Optional[int]) -> str:
    length = function(chip, None, 0)
    if length == 0:
        return ""
    text = ctypes.create_string_buffer(length + 1)
    function(chip, text, length + 1)
    return text.value.decode(errors="replace")


class Chip:
    """A chip of Tensix tiles, driven as a host does: tiles by translated NoC coordinates, and time.

    Args:
        settings: variables of the library without their prefix, in lower case: `product="p150"`,
            `threads=1`, `cycles_per_clock=64`, `timing="documented"`. Unless said, their defaults:
            the environment is not asked.

    Raises:
        TilescopeError: a setting means nothing.
    """

    def __init__(self, **settings: object) -> None:
        self._chip: Optional[int] = None
        names = [f"TILESCOPE_{name.upper()}={value}".encode() for name, value in settings.items()]
        listed = (ctypes.c_char_p * (len(names) + 1))(*names, None)
        created = ctypes.c_void_p()
        if _functions().tilescope_create(listed, ctypes.byref(created)) != _OK:
            raise TilescopeError(_text(_functions().tilescope_error, None))
        self._chip = created.value

    def _call(self, name: str, *arguments: Any) -> None:
        if self._chip is None:
            raise TilescopeError("the chip is closed")
        status = getattr(_functions(), name)(self._chip, *arguments)
        if status == _GUEST:
            raise GuestError("\n".join(self.reports()))
        if status != _OK:
            raise TilescopeError(_text(_functions().tilescope_error, self._chip))

    def read(self, x: int, y: int, address: int, size: int) -> bytes:
        """Bytes at an address of a tile."""
        data = ctypes.create_string_buffer(size)
        self._call("tilescope_tile_read", x, y, address, data, size)
        return data.raw

    def write(self, x: int, y: int, address: int, data: bytes) -> None:
        """Write bytes at an address of a tile: L1, or registers such as SOFT_RESET_0."""
        data = bytes(data)
        self._call("tilescope_tile_write", x, y, address, data, len(data))

    def clock(self, clocks: int = 1) -> None:
        """Let host clocks pass.

        Raises:
            GuestError: firmware or a kernel erred; the chip lives on.
        """
        self._call("tilescope_clock", clocks)

    @property
    def now(self) -> int:
        """AI-clock cycles since power-on."""
        value = ctypes.c_uint64()
        self._call("tilescope_now", ctypes.byref(value))
        return value.value

    @property
    def state_hash(self) -> int:
        """Witness of all that determines the future: equal for chips that got the same calls."""
        value = ctypes.c_uint64()
        self._call("tilescope_state_hash", ctypes.byref(value))
        return value.value

    def reports(self) -> List[str]:
        """Mistakes of firmware and kernels that nobody has asked for yet."""
        found: List[str] = []
        while self._chip is not None:
            text = _text(_functions().tilescope_report, self._chip)
            if not text:
                break
            found.append(text)
        return found

    def close(self) -> None:
        """Free the chip. Closed twice is closed."""
        chip, self._chip = self._chip, None
        if chip is not None:
            _functions().tilescope_destroy(chip)

    def __enter__(self) -> "Chip":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_chip", None) is not None:
            self.close()

    def __repr__(self) -> str:
        return "<Chip, closed>" if self._chip is None else f"<Chip at cycle {self.now}>"
