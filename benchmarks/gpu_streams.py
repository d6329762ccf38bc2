"""``partial_fit`` on a GPU and on the CPU: rows a second of one pass, and what it has taught.

Rows are deformed digits of MNIST, tested on its 10,000 test digits, and covertype (class 2 against
the rest, its ten numbers standardized), tested on 10,000 rows; 10,000 rows a call. All else is as
it is by default, but for the number of anchors and the depth.
"""

import time

import numpy as np

from benchmarks import gpu_local_models
from benchmarks.report import Result
from reproduce import datasets

_CALL = 10_000


def digits(n_rows, device):
    from benchmarks import gpu_sets

    X, y, T, t = gpu_sets.digits()
    rows, labels = gpu_sets.deformed(X, y, n_rows, 0, device)
    return rows, labels, T, t


def covertype(device):
    import torch

    X, y, T, t = gpu_local_models.taken("covertype", 10**9)
    rows, labels = (torch.as_tensor(one, device=device) for one in (X, y.astype(np.int64)))
    return rows, labels, T, t.astype(np.int64)


def streamed(model, name, data, device):
    """One pass from tensors on a device, or from arrays where it is the CPU."""
    import torch

    rows, labels, T, t = data
    classes, told = np.unique(t), labels.cpu().numpy()
    on_gpu = device != "cpu"
    rows = rows if on_gpu else rows.numpy()
    began, started = None, _CALL  # the first call makes anchors, and compiles
    for first in range(0, len(rows), _CALL):
        part = slice(first, first + _CALL)
        model.partial_fit(rows[part], labels[part] if on_gpu else told[part], classes=classes)
        if began is None:
            if on_gpu:
                torch.cuda.synchronize()
            began = time.perf_counter()
    if on_gpu:
        torch.cuda.synchronize()
    took = time.perf_counter() - began
    right = 100.0 * np.mean(model.predict(T) == t)
    case = f"partial_fit, {type(model).__name__}, {name}, {len(rows):,} rows"
    speed = (len(rows) - started) / took
    yield Result(case, f"rows a second, {device}", speed, note=f"test {right:.2f} %")


def _models(seed):
    from nearlinear import LDKLClassifier, LLCSAPLClassifier

    return LLCSAPLClassifier(100, random_state=seed), LDKLClassifier(7, random_state=seed)


def _passes(device, counts):
    """``counts`` are numbers of digits."""
    if datasets.is_available("mnist"):
        for n_digits in counts:
            data = digits(n_digits, device)
            yield from streamed(_models(0)[0], "digits", data, device)
    if datasets.is_available("covertype"):
        data = covertype(device)
        for model in _models(0):
            yield from streamed(model, "covertype", data, device)


def on_gpu(smoke):
    yield from _passes("cuda", [50_000] if smoke else [200_000, 1_000_000])


def on_cpu(smoke):
    yield from _passes("cpu", [50_000] if smoke else [200_000])
