"""Bytes of L1 as numbers. Needs numpy.

Formats of blocks have one exponent for 16 numbers; the exponents come first, padded to 16 bytes, as
the packer writes them. A magnitude of 0 with the sign set reads as minus infinity, as the unpacker
has it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Tuple

from ._errors import TilescopeError

if TYPE_CHECKING:
    import numpy

    Array = numpy.ndarray[Any, Any]

#: Plain formats: bytes of a number, and numpy's name of what is stored.
PLAIN: Dict[str, Tuple[int, str]] = {
    "fp32": (4, "<f4"),
    "tf32": (4, "<u4"),
    "bf16": (2, "<u2"),
    "fp16": (2, "<f2"),
    "fp8_e5m2": (1, "u1"),
    "int32": (4, "<i4"),
    "int16": (2, "<i2"),
    "int8": (1, "i1"),
    "uint32": (4, "<u4"),
    "uint16": (2, "<u2"),
    "uint8": (1, "u1"),
}
#: Block formats: bits of a number, and the bias of the exponents.
BLOCK: Dict[str, Tuple[int, int]] = {
    "bfp8": (8, 127),
    "bfp4": (4, 127),
    "bfp2": (2, 127),
    "bfp8a": (8, 15),
    "bfp4a": (4, 15),
    "bfp2a": (2, 15),
}


def np() -> Any:
    """numpy, or an error that says what to do."""
    try:
        import numpy
    except ImportError:
        raise TilescopeError("arrays need numpy: pip install numpy") from None
    return numpy


def _exponent_bytes(count: int) -> int:
    return -(-(-(-count // 16)) // 16) * 16


def size(count: int, format: str) -> int:
    """Bytes of so many numbers."""
    if format in PLAIN:
        return count * PLAIN[format][0]
    if format in BLOCK:
        return _exponent_bytes(count) + -(-count * BLOCK[format][0] // 8)
    known = ", ".join([*PLAIN, *BLOCK])
    raise TilescopeError(f"no format {format!r}; there are {known}")


def decode(data: bytes, count: int, format: str) -> "Array":
    """So many numbers, shape (count,): floating-point formats as float32, others as they are."""
    numpy = np()
    if format in BLOCK:
        return _block(data, count, *BLOCK[format])
    stored = numpy.frombuffer(data, PLAIN[format][1], count)
    found: Array = stored.copy()
    if format == "bf16":
        found = (stored.astype("<u4") << 16).view("<f4")
    elif format == "tf32":
        found = (stored & 0xFFFFE000).astype("<u4").view("<f4")
    elif format == "fp8_e5m2":
        found = (stored.astype("<u2") << 8).view("<f2").astype("<f4")
    elif format == "fp16":
        found = stored.astype("<f4")
    return found


def _block(data: bytes, count: int, bits: int, bias: int) -> "Array":
    numpy = np()
    start = _exponent_bytes(count)
    packed = numpy.frombuffer(data, "u1", offset=start)
    per_byte = 8 // bits
    shifts = numpy.arange(per_byte, dtype="u1") * bits
    # The low element lies in the low bits; each is brought to the top of a byte.
    fields = ((packed[:, None] >> shifts) << (8 - bits)).astype("u1").reshape(-1)[:count]
    shared = numpy.frombuffer(data, "u1", -(-count // 16)).astype("i4").repeat(16)[:count]
    magnitude = (fields & 0x7F).astype("f4")
    values: Array = numpy.ldexp(magnitude / 64, shared - bias).astype("<f4")
    negative = fields >= 0x80
    values[negative] = numpy.where(magnitude[negative] == 0, -numpy.inf, -values[negative])
    return values


def untilize(flat: "Array") -> "Array":
    """Numbers of whole tiles, as they lie in L1 (four faces of 16 by 16), as shape (tiles, 32, 32)."""
    faces = flat.reshape(-1, 2, 2, 16, 16)
    return faces.transpose(0, 1, 3, 2, 4).reshape(-1, 32, 32)
