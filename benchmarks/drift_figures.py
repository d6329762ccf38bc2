"""The figures of ``benchmarks drift``: a few small models, in a minute of CPU."""

import gzip
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

import nearlinear
from benchmarks.bench_import import BEFORE
from benchmarks.drift import Figure
from nearlinear import (
    LDKLClassifier,
    LLCSAPLClassifier,
    LocalForestClassifier,
    SimpleMKLClassifier,
    save,
    to_c,
    to_js,
    to_onnx,
    to_sql,
)

REPEATS = 7
BATCH_ROWS = 20_000
SINGLE_ROWS = 2_000
MODELS = {
    "LDKL": lambda: LDKLClassifier(4, max_iter=5, random_state=0),
    "LLC-SAPL": lambda: LLCSAPLClassifier(30, max_iter=3, random_state=0),
    "LocalForest": lambda: LocalForestClassifier(10, max_leaves=32, pairs=0, random_state=0),
    "SimpleMKL": lambda: SimpleMKLClassifier(max_iter=20),
}
PROGRAM = """
import time
{before}
start = time.process_time()
{statement}
print(time.process_time() - start)
"""


def measured():
    """{name: Figure} of all."""
    X, y = load_digits(return_X_y=True)
    X = np.ascontiguousarray((X / 16.0).astype(np.float32))
    rows = np.resize(X, (BATCH_ROWS, X.shape[1]))
    figures = _package() | _imports()
    linear = LogisticRegression(max_iter=50)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", UserWarning)
        linear.fit(X[:500], y[:500])
        models = {name: make().fit(X[:500], y[:500]) for name, make in MODELS.items()}
    for name, model in models.items():
        figures |= _sizes(name, model)
        scorer = model.compile()
        batch, single = rows if name != "SimpleMKL" else rows[:2000], X[:SINGLE_ROWS]
        figures[f"{name}: a row of a batch"] = _times(
            lambda model=model, batch=batch: model.predict(batch), len(batch), linear, rows
        )
        figures[f"{name}: a single row"] = _times(
            lambda scorer=scorer, single=single: [scorer(x) for x in single],
            len(single),
            linear,
            rows,
        )
    return figures


def _package():
    root = Path(nearlinear.__file__).parent
    kept = [p for p in root.rglob("*") if p.is_file() and p.suffix in (".py", ".js", ".ts", ".css")]
    module = (root / "js" / "nearlinear.js").read_bytes()
    return {
        "the package": Figure(sum(p.stat().st_size for p in kept), "bytes"),
        "nearlinear.js, gzip": Figure(len(gzip.compress(module, mtime=0)), "bytes"),
    }


def _sizes(name, model):
    """Of the files that a model goes to; a target that has no such model has no figure."""
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        save(model, folder / "model.nlm")
        sizes = {"model file": (folder / "model.nlm").stat().st_size}
        sizes["C, flash"] = to_c(model, folder / "c").flash_bytes
        sizes["ONNX"] = len(to_onnx(model).SerializeToString())
        sizes["JavaScript"] = to_js(model, folder / "js").n_bytes
        if name != "SimpleMKL":
            sizes["SQL"] = len(to_sql(model).encode())
    return {f"{name}: {what}": Figure(size, "bytes") for what, size in sizes.items()}


def _imports():
    first = _seconds("", "import sklearn.svm, sklearn.pipeline, sklearn.preprocessing")
    statements = (
        "import nearlinear",
        "from nearlinear import NearLinearClassifier",
        "import nearlinear.runtime",
    )
    return {
        statement: _figure(
            [own / statistics.median(first) for own in _seconds(BEFORE, statement)],
            "x import of scikit-learn",
        )
        for statement in statements
    }


def _seconds(before, statement):
    """CPU seconds of a statement in fresh interpreters; the first one writes byte code."""
    program = PROGRAM.format(before=before, statement=statement)
    call = [sys.executable, "-c", program]
    return [
        float(subprocess.run(call, capture_output=True, text=True, check=True).stdout)
        for _ in range(REPEATS + 1)
    ][1:]


def _times(call, n_rows, linear, rows):
    """CPU time a row as a multiple of the linear model's, both measured in turns."""
    call(), linear.predict(rows)
    ratios = []
    for _ in range(REPEATS):
        own = _cpu(call) / n_rows
        ratios.append(own / (_cpu(lambda: linear.predict(rows)) / len(rows)))
    return _figure(ratios, "x linear model")


def _cpu(call):
    start = time.process_time()
    call()
    return time.process_time() - start


def _figure(values, unit):
    """The median, and how far the middle half of the repeats lies apart."""
    low, middle, high = statistics.quantiles(values, n=4)
    return Figure(round(middle, 5), unit, round((high - low) / middle, 3))
