"""nearlinear.js in Node: processor microseconds a row, beside ONNX Runtime's packages of npm.

These are measured where ``NEARLINEAR_NODE_MODULES`` names a folder in which ``npm install
onnxruntime-web onnxruntime-node`` was run. A prediction costs the same however well trees and
anchors were learned, so they are trained briefly. Models are float32, all on one thread.
"""

import gzip
import json
import os
import shutil
import subprocess
import tempfile
import warnings
from pathlib import Path

import numpy as np

from benchmarks.report import FOLDER, Result, publish
from benchmarks.shapes import drawn
from nearlinear import (
    LDKLClassifier,
    LLCSAPLClassifier,
    LocalForestClassifier,
    UniformMKLClassifier,
    save,
    to_onnx,
)
from nearlinear.export.js import module_text

N_FEATURES, N_TRAINED, N_SCORED = 30, 3000, 10_000
_PLAIN = {"pairs": 0, "linear_root": False, "leaf_model": "constant", "max_leaves": 31}
MODELS = {
    "linear": lambda: LDKLClassifier(0, max_iter=3, random_state=0),
    "forest of 100 × 31": lambda: LocalForestClassifier(100, **_PLAIN, random_state=0),
    "LDKL, depth 6": lambda: LDKLClassifier(6, max_iter=3, random_state=0),
    "LLC-SAPL, 100 anchors": lambda: LLCSAPLClassifier(100, max_iter=3, random_state=0),
    "kernel machine": lambda: UniformMKLClassifier(["gaussian"]),
    "a file of 1 MB": lambda: LocalForestClassifier(1000, **_PLAIN, random_state=0),
}
UNITS = {"load_ms": "ms", "batch_us": "µs", "one_us": "µs"}
QUANTITIES = {"load_ms": "load", "batch_us": "a row of 10,000", "one_us": "one row"}


def write_models(folder, smoke):
    """Files of all models; what each of them is."""
    X, y = drawn(200 if smoke else N_TRAINED, N_FEATURES, n_classes=2)
    X, notes = np.asarray(X, dtype=np.float32), {}
    for title, make in MODELS.items():
        if smoke and title.startswith("a file"):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = make().fit(X, y)
        save(model, folder / f"{title}.nlm")
        n_bytes = (folder / f"{title}.nlm").stat().st_size
        n_support = getattr(model.predictor_, "n_support", None)
        notes[title] = f"{n_bytes:,} bytes" + (f", {n_support} support rows" if n_support else "")
        if not title.startswith("a file"):
            to_onnx(model, folder / f"{title}.onnx")
    rows = np.random.default_rng(0).choice(X, 100 if smoke else N_SCORED)
    rows.tofile(folder / "rows.f32")
    (folder / "shape.json").write_text(json.dumps({"n_features": N_FEATURES}))
    return notes


def run(smoke=False, folder=FOLDER):
    return list(_results(smoke))


def _results(smoke):
    text = module_text().encode()
    yield Result("the module", "plain", len(text) / 1e3, "kB")
    yield Result("the module", "gzip", len(gzip.compress(text, 9)) / 1e3, "kB")
    node = shutil.which("node")
    if node is None:
        return
    script = Path(__file__).with_name("js_speed.mjs")
    with tempfile.TemporaryDirectory() as place:
        place = Path(place)
        notes = write_models(place, smoke)
        module = place / "nearlinear.mjs"
        module.write_bytes(text)
        words = [node, script, place, module]
        words += filter(None, [os.environ.get("NEARLINEAR_NODE_MODULES")])
        done = subprocess.run(words, check=True, capture_output=True, text=True)
    for title, found in json.loads(done.stdout).items():
        for reader, numbers in found.items():
            for name, value in numbers.items():
                quantity = f"{reader}: {QUANTITIES[name]}"
                yield Result(title, quantity, value, UNITS[name], note=notes[title])


if __name__ == "__main__":
    publish("js", run())
