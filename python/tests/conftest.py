"""What tests of the module need: the program, and a plan of its own examples."""

import subprocess
from pathlib import Path

import pytest
import tilescope

pytest_plugins = ["pytester"]


@pytest.fixture(scope="session")
def plan(tmp_path_factory: pytest.TempPathFactory):
    """Path of the plan of a built-in example, by its name."""

    def extracted(name: str) -> Path:
        directory = tmp_path_factory.mktemp(name)
        words = [tilescope.binary(), "demo", name, "--extract", str(directory)]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
        return directory / "case.toml"

    return extracted
