"""Code in a process of its own: what crashes there, or takes too much memory, is a failed test."""

import os
import subprocess
import sys
from pathlib import Path

_TESTS = Path(__file__).parents[1]
_LIMIT = """
import resource
now = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (now + {more}, now + {more}))
"""


def limit_memory(more):
    """Source text: from here on a process may take ``more`` bytes; empty beside Linux."""
    return _LIMIT.format(more=more) if sys.platform.startswith("linux") else ""


def run_child(source, *arguments, timeout=None, **environment):
    """Run source text with one thread; returns what it printed, or fails with what it said."""
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    paths = [str(_TESTS), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | one | {"PYTHONPATH": os.pathsep.join(paths)} | environment
    done = subprocess.run(
        [sys.executable, "-c", source, *map(str, arguments)],
        capture_output=True, text=True, env=environment, check=False, timeout=timeout,
    )  # fmt: skip
    assert done.returncode == 0, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout
