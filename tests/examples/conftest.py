"""Examples run as programs without a window, once for all tests of a file."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="session")
def run_example(tmp_path_factory):
    """A function that runs an example in an empty folder, and returns what it prints."""
    pytest.importorskip("matplotlib")

    def run(name):
        command = [sys.executable, "-W", "error::UserWarning", str(EXAMPLES / name)]
        done = subprocess.run(
            command, cwd=tmp_path_factory.mktemp("example"), capture_output=True, text=True,
            timeout=300, env={**os.environ, "MPLBACKEND": "Agg"},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="module")
def printed(request, run_example):
    """What the example ``EXAMPLE`` of the file prints."""
    return run_example(request.module.EXAMPLE)
