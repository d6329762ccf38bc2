"""SimpleMKL and LMKL of ten Gaussians on a GPU, and the same fits on the CPU.

Rows are covertype (class 2 against the rest), ijcnn1 and a made-up set, standardized, drawn by
seed 0; C = 10 and all else as it is by default. Nothing was chosen on the 2,000 rows that test.
"""

import time

import numpy as np

from benchmarks.report import Result
from reproduce import datasets

_ROWS, _HELD = 20_000, 2000


def made(n_rows):
    """Two classes by a wavy border in ten of twenty columns, and a tenth of noise."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, 20))
    score = np.sin(2.0 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * X[:, 3:10].sum(axis=1)
    return X, np.where(rng.random(n_rows) < 0.1, -1, 1) * np.where(score > 0, 1, -1)


def taken(name, n_rows):
    """Standardized rows and ±1 labels; the last 2,000 test."""
    if name == "made-up":
        return made(n_rows)
    found = np.load(datasets.archive_path(name))
    if name == "covertype":
        X, y = found["X"], found["y"] == 2
    else:
        X, y = found["X_train"], found["y_train"] > 0
    chosen = np.random.default_rng(0).permutation(len(X))[:n_rows]
    X = X[chosen].astype(np.float64)
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0), np.where(y[chosen], 1, -1)


def methods(**where):
    from nearlinear import LMKLClassifier, SimpleMKLClassifier

    yield SimpleMKLClassifier(C=10.0, **where)
    yield LMKLClassifier("gaussians", n_copies=1, C=10.0, random_state=0, **where)


def sets():
    return ["made-up", *filter(datasets.is_available, ("covertype", "ijcnn1"))]


def fitted(name, n_rows, **where):
    """Results of the fits of both methods to one set: wall and CPU seconds, score, gap."""
    X, y = taken(name, n_rows + _HELD)
    for model in methods(**where):
        start = time.perf_counter(), time.process_time()
        model.fit(X[:n_rows], y[:n_rows])
        took, spent = time.perf_counter() - start[0], time.process_time() - start[1]
        right = 100.0 * model.score(X[n_rows:], y[n_rows:])
        note = (
            f"{spent:.1f} s of CPU, objective {model.objective_:.6g}, relative gap "
            f"{model.duality_gap_ / model.objective_:.1e}, {model.n_iter_} machines, "
            f"{model.n_support_} rows kept, test {right:.2f} %"
        )
        place = where.get("device", f"{where.get('n_jobs')} threads")
        case = f"{type(model).__name__}, ten Gaussians, {name}, {n_rows:,} rows"
        yield Result(case, f"seconds of fit, {place}", took, "s", note=note)


def on_gpu(smoke):
    import torch

    n_rows = 1000 if smoke else _ROWS
    list(fitted("made-up", 1000, device="cuda"))  # CUDA begins
    for name in sets():
        torch.cuda.reset_peak_memory_stats()
        yield from fitted(name, n_rows, device="cuda")
        peak = torch.cuda.max_memory_allocated() / 1e9
        yield Result(f"ten Gaussians, {name}, {n_rows:,} rows", "memory of the device", peak, "GB")


def on_cpu(smoke):
    for name in sets():
        for n_rows in (500,) if smoke else (5000, 10_000, _ROWS):
            yield from fitted(name, n_rows, n_jobs=2)
