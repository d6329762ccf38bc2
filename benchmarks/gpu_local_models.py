"""LLSVM and LCC+SVM of 100 anchors on a GPU, and the same fits on the CPU.

Rows are the 60,000 digits of MNIST as fractions and 200,000 rows of covertype (class 2 against the
rest, its ten numbers standardized), in float32; all else is as it is by default. Nothing was chosen
on the 10,000 rows that test.
"""

import time

import numpy as np

from benchmarks.report import Result
from reproduce import datasets

_LOSSES, _SEEDS = ("hinge", "squared_hinge", "log_loss"), (0, 1, 2)


def taken(name, most):
    """Training rows, their labels, test rows, and theirs."""
    found = np.load(datasets.archive_path(name))
    if name == "mnist":
        X, T = (found[one].astype(np.float32) / 255 for one in ("X_train", "X_test"))
        return X[:most], found["y_train"][:most], T, found["y_test"]
    X, y = found["X"].astype(np.float32), found["y"] == 2
    X[:, :10] = (X[:, :10] - X[:, :10].mean(axis=0)) / X[:, :10].std(axis=0)
    order = np.random.default_rng(0).permutation(len(X))
    fit, test = order[: min(most, 200_000)], order[-10_000:]
    return X[fit], y[fit], X[test], y[test]


def fitted(name, data, loss, seed, **where):
    """Seconds of the fits of both methods to one set, with CPU seconds, score and gap."""
    from nearlinear import LCCSVMClassifier, LLSVMClassifier

    X, y, T, t = data
    for kind in (LLSVMClassifier, LCCSVMClassifier) if loss == "hinge" else (LLSVMClassifier,):
        model = kind(100, loss=loss, random_state=seed, **where)
        start = time.perf_counter(), time.process_time()
        model.fit(X, y)
        took, spent = time.perf_counter() - start[0], time.process_time() - start[1]
        right = 100.0 * np.mean(answers(model, T, where) == t)
        note = (
            f"{spent:.1f} s of CPU, gap {model.duality_gap_:.4g}, {model.n_iter_} steps or epochs, "
            f"test {right:.2f} %"
        )
        place = where.get("device", f"{where.get('n_jobs')} threads")
        case = f"{kind.__name__}, {loss}, {name}, {len(X):,} rows"
        yield Result(case, f"seconds of fit, {place}, seed {seed}", took, "s", note=note)


def answers(model, T, where):
    if "device" not in where:
        return model.predict(T)
    import torch

    return model.predict(torch.as_tensor(T, device=where["device"])).cpu().numpy()


def sets(smoke):
    for name in filter(datasets.is_available, ("mnist", "covertype")):
        yield name, taken(name, 2000 if smoke else 10**9)


def on_gpu(smoke):
    import torch

    for name, data in sets(smoke):
        few = [part[:2000] for part in data]
        list(fitted(name, few, "hinge", 0, device="cuda"))  # CUDA and its libraries begin
        for loss in _LOSSES:
            torch.cuda.reset_peak_memory_stats()
            for seed in _SEEDS:
                yield from fitted(name, data, loss, seed, device="cuda")
            peak = torch.cuda.max_memory_allocated() / 1e9
            yield Result(f"LLSVM, {loss}, {name}", "memory of the device", peak, "GB")


def on_cpu(smoke):
    for name, data in sets(smoke):
        for loss in _LOSSES:
            yield from fitted(name, data, loss, 0, n_jobs=2)
