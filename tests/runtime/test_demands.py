"""Files that ask for more than they hold: refused before memory is touched or taken."""

import json

import numpy as np
import pytest
from runtime import crafted
from runtime.child import limit_memory, run_child
from runtime.crafted import edited, make, put, put_array, table

from nearlinear.runtime.container import to_bytes

LOAD_AND_SCORE = """
import sys, warnings
import numpy as np
import nearlinear
from nearlinear import runtime

warnings.simplefilter("ignore")
X = np.random.default_rng(0).standard_normal((300, 3))
nearlinear.load(sys.argv[1]).predict(X)
runtime.load(sys.argv[1]).predict(X)
{limit}
for load in (runtime.load, nearlinear.load):
    try:
        load(sys.argv[2]).predict(X)
        print("scored")
    except runtime.ModelFileError as error:
        assert "\\n" not in str(error) and len(str(error)) < 300
        print("refused")
"""


def outcome(tmp_path, name, edit, more=1 << 28):
    """What both readers make of a file, in a process with little memory."""
    content = make(name)
    (tmp_path / "good.nlm").write_bytes(to_bytes(*content))
    (tmp_path / "bad.nlm").write_bytes(to_bytes(*edited(*content, edit)))
    source = LOAD_AND_SCORE.format(limit=limit_memory(more))
    return run_child(source, tmp_path / "good.nlm", tmp_path / "bad.nlm").split()


# --- sparse rows --------------------------------------------------------------------------------

WRAPS = np.array([0, 2**63 - 1, -(2**63), -1, 5])  # every difference is positive, modulo 2^64
BEYOND = np.array([0, 2**40, 2**40, 2**40, 5])


@pytest.mark.parametrize("starts", [WRAPS, BEYOND], ids=["wrap", "beyond"])
def test_starts_of_sparse_support_rows_stay_inside(starts, tmp_path):
    def edit(header, arrays):
        arrays[header["predictor"]["fields"]["support"]["indptr"]["number"]] = starts

    assert outcome(tmp_path, "sparse support", edit) == ["refused", "refused"]


@pytest.mark.parametrize("where", ["attributes", "parameters"])
def test_starts_of_other_sparse_rows_stay_inside(where, tmp_path):
    name = "any_" if where == "attributes" else "kernels"

    def edit(header, arrays):
        rows = header["predictor"]["fields"]["support"]
        arrays.append(WRAPS)
        rows = rows | {"indptr": {"$": "array", "number": len(arrays) - 1}}
        header[where] = table(**{name: rows})

    assert outcome(tmp_path, "sparse support", edit)[1] == "refused"
