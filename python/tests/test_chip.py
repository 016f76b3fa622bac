"""A chip within the process, and its tape."""

import struct
import subprocess
import sys
from pathlib import Path

import pytest
import tilescope

import host


def test_chip_keeps_what_is_written_and_lets_time_pass():
    with tilescope.Chip(threads=1, cycles_per_clock=64) as chip, tilescope.Chip(
        threads=1, cycles_per_clock=64
    ) as other:
        x, y = host.TILE
        chip.write(x, y, host.AWAITED, b"kept")
        assert chip.read(x, y, host.AWAITED, 4) == b"kept"
        chip.clock(3)
        assert chip.now == 3 * 64
        assert chip.state_hash != other.state_hash
    with pytest.raises(tilescope.TilescopeError, match="closed"):
        chip.clock()


def test_mistake_of_a_kernel_is_an_exception():
    with tilescope.Chip(threads=1) as chip:
        x, y = host.TILE
        # All ones is no instruction.
        chip.write(x, y, 0, b"\xff" * 4)
        chip.write(x, y, host.SOFT_RESET_0, struct.pack("<I", host.ONLY_BRISC))
        with pytest.raises(tilescope.GuestError, match="BRISC"):
            chip.clock(1000)
        chip.clock(1)


def test_setting_that_means_nothing_is_refused():
    with pytest.raises(tilescope.TilescopeError, match="TILESCOPE_SPEED"):
        tilescope.Chip(speed=9)


def test_tape_is_played_and_looked_into(tmp_path):
    program = (
        "import host\n"
        "it = host.Host()\n"
        "it.write(host.AWAITED, b'kept')\n"
        "it.start(host.WORKS)\n"
        "it.poll(300)\n"
        "it.close()\n"
    )
    words = [tilescope.binary(), "run", "-o", str(tmp_path / "a.tstape"), "--", sys.executable]
    here = Path(__file__).parent
    subprocess.run([*words, "-c", program], check=True, cwd=here, stderr=subprocess.DEVNULL)
    # Translated (1, 2) is worker (0, 0).
    with tilescope.replay(tmp_path / "a.tstape", events=True) as session:
        assert session.step(calls=1).call == 1
        events = list(session.events())
        assert session.status.verdict == "END"
        assert session.read(host.AWAITED, 4) == b"kept"
        counted = struct.unpack("<I", session.read(host.POLLED, 4))[0]
        assert counted > 100
        assert session.registers("core.brisc.t1")["core"]["brisc"]["t1"] in (counted, counted + 1)
        assert any(event["event"] == "reset" or "reset" in str(event) for event in events)
        assert session.explain().verdict == "DONE"
