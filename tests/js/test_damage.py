"""Damaged files in nearlinear.js: each is refused, or scored as the NumPy runtime scores it."""

import json
import struct
import zlib

import numpy as np
import pytest
from js.changed import try_changed
from js.node import ask, job, needs_node
from runtime import crafted, fuzz
from runtime.damage import damage_bytes
from runtime.lies import lies

from nearlinear.runtime.container import MAGIC, to_bytes

pytestmark = needs_node
N_CASES = 600


def test_files_with_changed_bytes_are_refused():
    rng, originals = np.random.default_rng(0), [crafted.file_of(name) for name in crafted.MODELS]
    damaged = []
    while len(damaged) < N_CASES:
        original = originals[rng.integers(len(originals))]
        changed = damage_bytes(original, rng)
        if changed != original:
            damaged.append(job(changed, []))
    assert {found.get("name") for found in ask(damaged)} == {"ModelFileError"}


def test_files_with_changed_content_are_refused_or_scored_alike(tmp_path):
    seeds = fuzz.originals(None)
    counts, findings = try_changed(range(N_CASES), seeds, tmp_path / "case.nlm")
    assert findings == []
    assert counts["scored"] > 0.05 * N_CASES
    assert counts["apart"] + counts["too large"] < 0.02 * N_CASES


def test_lies_about_a_predictor_are_refused():
    """Some of those that Python's readers are tried with; each model has hundreds."""
    told, jobs = [], []
    for name in crafted.MODELS:
        header, arrays = crafted.make(name)
        for lie, edit in list(lies(header, arrays))[:: 1 + len(jobs) % 3 + 10]:
            told.append((name, lie))
            jobs.append(job(to_bytes(*crafted.edited(header, arrays, edit)), []))
    answers = zip(told, ask(jobs), strict=True)
    assert [lie for lie, found in answers if found.get("name") != "ModelFileError"] == []
    assert len(jobs) > 500


def claim(shape, length=None):
    """A file that says of an array that it has this shape."""
    entry = {"dtype": "<f8", "shape": shape, "offset": 128, "crc32": 0}
    text = json.dumps({"arrays": [entry]}).encode()
    return MAGIC + _header(text, length) + bytes(99)


def test_a_file_that_claims_to_be_huge_takes_no_memory():
    shapes = [[2**k] for k in (20, 40, 62, 64)] + [[10**30], [2**40, 0], [0, 2**62], [3, 2**30]]
    files = [claim(shape) for shape in shapes] + [
        claim([1], length) for length in (2**40, 2**64 - 1)
    ]
    for name, edit in {
        "Repeated gate": crafted.put("gate", "count", 2**40),
        "soft anchors": crafted.put_top("n_features", 2**30),
        "two kernels": crafted.put_top("n_gating_features", 2**30),
        "unbalanced tree of IndicatorNode": crafted.nodes_of_nothing,
    }.items():
        files.append(to_bytes(*crafted.edited(*crafted.make(name), edit)))
    nested = b"[" * 100_000
    files.append(MAGIC + _header(nested))
    answers = ask([job(data, []) for data in files], ["--max-old-space-size=64"])
    assert {found["name"] for found in answers} == {"ModelFileError"}


def _header(text, length=None):
    checksum = zlib.crc32(struct.pack("<I", 1) + text)
    return struct.pack("<IIQ", 1, checksum, length or len(text)) + text


@pytest.mark.parametrize("text", ['{"arrays": [], "arrays": []}', '{"arrays": [1e999]}', "[NaN]"])
def test_headers_that_python_does_not_take_for_json_are_refused(text):
    (found,) = ask([job(MAGIC + _header(text.encode()), [])])
    assert "is not JSON" in found["error"]


@pytest.mark.parametrize("version", [0, 2, 4])
def test_other_format_versions_are_refused_in_one_sentence(version):
    (found,) = ask([job(MAGIC + struct.pack("<IIQ", version, 0, 2) + b"{}", [])])
    assert found["name"] == "ModelFileError"
    assert found["error"] == (
        f"The model has format version {version}, but this nearlinear.js reads version 1: use the "
        "nearlinear.js of the release that wrote the file, or save the model again."
    )
