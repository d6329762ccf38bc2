"""Examples run as programs, once for all tests of a file."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("pictures")


@pytest.fixture(scope="module")
def printed(request, folder):
    """What the program ``EXAMPLE`` of the file prints; its picture lies in ``folder``."""
    pytest.importorskip("matplotlib")
    program = str(EXAMPLES / request.module.EXAMPLE)
    command = [sys.executable, "-W", "error::UserWarning", program, "--out", "picture.png"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout
