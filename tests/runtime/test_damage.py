"""Thousands of damaged files: each is refused, or it is a model that scores."""

import subprocess
import sys
import warnings

import numpy as np
import pytest
from runtime import crafted
from runtime.crafted import file_of, make
from runtime.damage import damage_bytes, damage_content

import nearlinear
from nearlinear import runtime
from nearlinear.runtime import ModelFileError
from nearlinear.runtime.container import from_bytes, to_bytes

NAMES = list(crafted.MODELS)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Files of real fits, with all that these have beside a predictor."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    rng = np.random.default_rng(2)
    X = rng.standard_normal((40, crafted.N_FEATURES))
    y = np.where(X[:, 0] * X[:, 1] > 0, "same", "other")
    models = [
        make_pipeline(StandardScaler(), nearlinear.LLSVMClassifier(n_anchors=4, random_state=0)),
        nearlinear.LDKLClassifier(depth=1, max_iter=2, random_state=0),
        nearlinear.LMKLClassifier("gaussian", n_copies=2, max_iter=2, random_state=0),
        make_pipeline(StandardScaler(), nearlinear.MLLKMClassifier(n_anchors=8, random_state=0)),
        nearlinear.SwMKLClassifier(["linear", "gaussian"], blend="pairwise"),
    ]
    path, found = tmp_path_factory.mktemp("saved") / "model.nlm", []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model in models:
            nearlinear.save(model.fit(X, y), path)
            found.append(path.read_bytes())
    return found


def scored(load, path, X):
    """Whether a file gives scores; None where it is refused as a whole."""
    try:
        model = load(path)
    except ModelFileError as error:
        assert "\n" not in str(error)
        return None
    try:
        model.predict(X)
        return True
    except ValueError:  # rows that do not suit what the file now says
        return False


@pytest.mark.parametrize("seed", range(4))
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


@pytest.mark.parametrize("seed", range(6))
def test_files_with_changed_content_are_refused_or_score(seed, saved, tmp_path):
    rng, path = np.random.default_rng(seed), tmp_path / "model.nlm"
    originals = [*map(make, NAMES), *map(from_bytes, saved)]
    X = rng.standard_normal((5, crafted.N_FEATURES))
    outcomes = []
    for _ in range(500):
        original = originals[rng.integers(len(originals))]
        header, arrays = damage_content(*original, rng)
        path.write_bytes(to_bytes(header, arrays))
        # overflow in a model of absurd numbers is its own affair
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            outcomes += [scored(load, path, X) for load in (runtime.load, nearlinear.load)]
    assert outcomes.count(None) > 300
    assert outcomes.count(True) > 30


def test_a_file_that_claims_to_be_huge_takes_no_memory(tmp_path):
    """With little memory to be had, a refusal must come before any allocation."""
    if not sys.platform.startswith("linux"):
        pytest.skip("other systems do not hold a process to a limit of its memory")
    source = f"""
import json, resource, struct, sys, zlib
from nearlinear.runtime import ModelFileError, load
from nearlinear.runtime.container import MAGIC

now = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (now + (1 << 27), now + (1 << 27)))
path, n_refused = {str(tmp_path / "huge.nlm")!r}, 0
for extent in (2**20, 2**30, 2**40, 2**61, 2**62, 2**63, 2**64, 10**30):
    for shape in ([extent], [extent] * 2, [1, extent, 1], [extent, 0], [0, extent], [3, extent]):
        for offset in (0, 64, 128, 192, 256, extent):
            entry = {{"dtype": "<f8", "shape": shape, "offset": offset, "crc32": 0}}
            text = json.dumps({{"arrays": [entry]}}).encode()
            fixed = struct.pack("<IIQ", 1, zlib.crc32(text), len(text))
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
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout.strip() == str(8 * 6 * 6 * 2 + 5)


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
