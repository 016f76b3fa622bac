"""Bytes as numbers; expected values from the definitions of the formats."""

import pytest
from tilescope import _formats

numpy = pytest.importorskip("numpy")


@pytest.mark.parametrize(
    "format, data, expected",
    [
        ("fp32", "0000803f", 1.0),
        ("bf16", "80bf", -1.0),
        ("fp16", "003e", 1.5),
        ("tf32", "ffffff3f", 1.9990234375),
        ("fp8_e5m2", "c2", -3.0),
        ("int8", "ff", -1),
        ("uint16", "ffff", 65535),
    ],
)
def test_plain_formats(format, data, expected):
    assert _formats.decode(bytes.fromhex(data), 1, format).tolist() == [expected]


@pytest.mark.parametrize("bits, format", [(8, "bfp8"), (4, "bfp4"), (2, "bfp2")])
def test_blocks_share_an_exponent(bits, format):
    # A magnitude whose top bit alone is set is 1 times the power of two that the exponent names.
    top = 1 << (bits - 2)
    fields = [top, top | 1 << (bits - 1), 0] + [0] * 13
    packed = sum(value << bits * at for at, value in enumerate(fields))
    data = bytes([128] + [0] * 15) + packed.to_bytes(2 * bits, "little")
    assert len(data) == _formats.size(16, format)
    assert _formats.decode(data, 16, format).tolist()[:3] == [2.0, -2.0, 0.0]


def test_tile_of_bfp8_has_64_exponents():
    # 1,088 bytes, as the vendor's runtime counts them.
    assert _formats.size(1024, "bfp8") == 1088
    assert _formats.size(1024, "bfp4") == 576


def test_faces_come_to_their_places():
    tile = _formats.untilize(numpy.arange(1024))[0]
    assert tile.shape == (32, 32)
    # Face 1 is right of face 0, face 2 below it.
    assert (tile[0, 15], tile[0, 16], tile[16, 0], tile[31, 31]) == (15, 256, 512, 1023)
