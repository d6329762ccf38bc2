"""Thousands of damaged files: each is refused, or it is a model that scores."""

import json
import os

import numpy as np
import pytest
from grids import in_one_test
from runtime import crafted, fuzz
from runtime.child import limit_memory, run_child
from runtime.crafted import file_of, make
from runtime.damage import damage_bytes

import nearlinear
from nearlinear import runtime
from nearlinear.runtime import ModelFileError
from nearlinear.runtime.container import to_bytes

NAMES = list(crafted.MODELS)


@pytest.fixture(scope="module")
def saved():
    return list(fuzz.fitted())


@in_one_test("seed", range(4))
def test_files_with_changed_bytes_are_refused(seed, saved, tmp_path):
    rng, path = np.random.default_rng(seed), tmp_path / "model.nlm"
    originals = [*map(file_of, NAMES), *saved]
    n_files = 0
    while n_files < 500:
        original = originals[rng.integers(len(originals))]
        damaged = damage_bytes(original, rng)
        if damaged == original:
            continue
        n_files += 1
        path.write_bytes(damaged)
        for load in (runtime.load, nearlinear.load):
            with pytest.raises(ModelFileError):
                load(path)


# ``make test-all`` tries more.
N_CASES = int(os.environ.get("NEARLINEAR_FUZZ_CASES", "1000"))


# All passes are compiled anew to check bounds.
CHECKED = pytest.param(True, 10**6, 0.2, marks=pytest.mark.only_all)


@pytest.mark.parametrize(
    "checks, first, share", [(False, 0, 0.8), CHECKED], ids=["fast", "bounds checked"]
)
def test_files_with_changed_content_are_refused_or_score(checks, first, share, saved, tmp_path):
    for number, data in enumerate(saved):
        (tmp_path / f"{number}.nlm").write_bytes(data)
    (work := tmp_path / "work").mkdir()
    settings = fuzz.checked(tmp_path / "cache") if checks else {}
    count = int(share * N_CASES)
    try:
        printed = run_child(fuzz.CHILD, first, count, work, tmp_path, **settings)
    except AssertionError as error:
        last = (work / "last").read_text().strip() if (work / "last").exists() else "none"
        pytest.fail(f"the last case was {last}: {error}")
    *failures, outcomes = printed.strip().split("\n")
    assert failures == [], "\n".join(failures[:60])
    outcomes = json.loads(outcomes)
    assert outcomes["refused"] > 0.5 * count
    assert outcomes["scored"] > 0.05 * count


def test_a_file_that_claims_to_be_huge_takes_no_memory(tmp_path):
    """With little memory to be had, a refusal must come before any allocation."""
    source = f"""
import json, struct, zlib
from nearlinear.runtime import ModelFileError, load
from nearlinear.runtime.container import MAGIC

{limit_memory(1 << 27)}
path, n_refused = {str(tmp_path / "huge.nlm")!r}, 0
for extent in (2**20, 2**30, 2**40, 2**61, 2**62, 2**63, 2**64, 10**30):
    for shape in ([extent], [extent] * 2, [1, extent, 1], [extent, 0], [0, extent], [3, extent]):
        for offset in (0, 64, 128, 192, 256, extent):
            entry = {{"dtype": "<f8", "shape": shape, "offset": offset, "crc32": 0}}
            text = json.dumps({{"arrays": [entry]}}).encode()
            fixed = struct.pack("<IIQ", 1, zlib.crc32(struct.pack("<I", 1) + text), len(text))
            for data in (MAGIC + fixed + text, MAGIC + fixed + text + bytes(512)):
                open(path, "wb").write(data)
                try:
                    load(path)
                except ModelFileError:
                    n_refused += 1
for length in (2**20, 2**30, 2**40, 2**63, 2**64 - 1):
    open(path, "wb").write(MAGIC + struct.pack("<IIQ", 1, 0, length) + bytes(100))
    try:
        load(path)
    except ModelFileError:
        n_refused += 1
print(n_refused)
"""
    assert run_child(source).strip() == str(8 * 6 * 6 * 2 + 5)


def test_reading_takes_the_memory_of_the_file_twice_at_most(tmp_path):
    import tracemalloc

    header, arrays = make("Gaussian kernel")
    n_rows = 50_000
    for name, values in (
        ("support", np.zeros((n_rows, crafted.N_FEATURES))),
        ("coefficients", np.zeros((1, n_rows, 3))),
    ):
        crafted.put_array(name, values)(header, arrays)
    path = tmp_path / "large.nlm"
    path.write_bytes(to_bytes(header, arrays))
    size = path.stat().st_size
    tracemalloc.start()
    try:
        model = runtime.load(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert model.n_features == crafted.N_FEATURES
    assert size > 2_000_000 and peak < 2.5 * size
