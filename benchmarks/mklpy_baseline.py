"""MKLpy's EasyMKL on ten Gaussian kernels: seconds, peak memory and accuracy of a fit.

MKLpy and PyTorch are not among this project's dependencies, so they get an environment of
their own (a CPU build of PyTorch is enough):

    python3 -m venv mklpy_env
    mklpy_env/bin/pip install torch MKLpy
    OMP_NUM_THREADS=2 mklpy_env/bin/python benchmarks/mklpy_baseline.py --rows 2000 --repeats 3

Prints one JSON line: medians over the repeats, each of which is a process of its own,
and every repeat's own numbers under "runs". Seconds are wall seconds; memory is in bytes:

    seconds_gram      the squared distances, their median and the ten Gram matrices
    seconds_fit       EasyMKL.fit on those matrices
    seconds_total     the two together
    seconds_learner   the part of seconds_fit that the base learner (KOMD) takes
    peak              the most the process held up to the end of fit, with the imports
    peak_gram         the same up to the end of the Gram matrices
    before_data       what it held after the imports, before the data
    train_accuracy, test_accuracy    percent; the test rows are as many, drawn apart

Peak memory is read from /proc, so this needs Linux.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path
from statistics import median

N_FEATURES = 20
N_KERNELS = 10
LAM = 0.1


def problem(n_rows, seed):
    import numpy as np

    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, N_FEATURES))
    noise = rng.standard_normal(n_rows)
    f = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] - 0.5 * X[:, 3] ** 2 + 0.5 + 0.3 * noise
    return X, np.where(f >= 0, 1, -1)


def grams(squared, gammas):
    """MKLpy takes a list of square torch tensors in double precision."""
    import torch

    squared = torch.from_numpy(squared)
    # In place: a temporary for each kernel leaves holes in the heap that would count as its use.
    return [squared.mul(-gamma).exp_() for gamma in gammas]


def status_bytes(field):
    """A field of /proc/self/status. ru_maxrss would not do: a child's begins at its parent's."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (line,) = (line for line in lines if line.startswith(field + ":"))
    return 1024 * int(line.split()[1])


def measured_fit(n_rows):
    """One fit, in this process: called in a child only, for VmHWM never goes down."""
    import numpy as np
    import torch
    from MKLpy.algorithms import EasyMKL
    from sklearn.metrics.pairwise import euclidean_distances

    before_data = status_bytes("VmRSS")
    X, y = problem(n_rows, seed=0)

    start = time.perf_counter()
    squared = euclidean_distances(X, squared=True)
    # Pairs of different rows only: the zeros of the diagonal are no distances.
    scale = np.median(squared[np.triu_indices(n_rows, 1)])
    gammas = np.geomspace(0.03, 10, N_KERNELS) / scale
    KL = grams(squared, gammas)
    seconds_gram = time.perf_counter() - start
    del squared
    peak_gram = status_bytes("VmHWM")

    model = EasyMKL(lam=LAM)
    learner_fit = model.learner.fit
    seconds_learner = 0.0

    def timed(*args):
        nonlocal seconds_learner
        start = time.perf_counter()
        fitted = learner_fit(*args)
        seconds_learner = time.perf_counter() - start
        return fitted

    # On the instance, so that the class and the fit itself stay as they are installed.
    model.learner.fit = timed

    start = time.perf_counter()
    model.fit(KL, torch.from_numpy(y))
    seconds_fit = time.perf_counter() - start
    # Before predict, which makes matrices of its own.
    peak = status_bytes("VmHWM")

    train_accuracy = 100 * float(np.mean(np.asarray(model.predict(KL)) == y))
    X_test, y_test = problem(n_rows, seed=1)
    KL_test = grams(euclidean_distances(X_test, X, squared=True), gammas)
    test_accuracy = 100 * float(np.mean(np.asarray(model.predict(KL_test)) == y_test))
    return {
        "seconds_gram": seconds_gram,
        "seconds_fit": seconds_fit,
        "seconds_total": seconds_gram + seconds_fit,
        "seconds_learner": seconds_learner,
        "peak": peak,
        "peak_gram": peak_gram,
        "before_data": before_data,
        "train_accuracy": train_accuracy,
        "test_accuracy": test_accuracy,
        "positive_share": float(np.mean(y == 1)),
        "weights": [round(float(weight), 6) for weight in model.solution.weights],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        print(json.dumps(measured_fit(args.rows)))
        return
    command = [sys.executable, __file__, "--child", "--rows", str(args.rows)]
    runs = []
    for _ in range(args.repeats):
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        # The last line: libraries may print before it.
        runs.append(json.loads(done.stdout.splitlines()[-1]))
    medians = {name: median(run[name] for run in runs) for name in runs[0] if name != "weights"}
    packages = ("MKLpy", "torch", "cvxopt", "numpy", "scipy", "scikit-learn")
    print(
        json.dumps(
            {
                "n_rows": args.rows,
                "n_features": N_FEATURES,
                "n_kernels": N_KERNELS,
                "lam": LAM,
                "threads": os.environ.get("OMP_NUM_THREADS"),
                **medians,
                "versions": {
                    "python": platform.python_version(),
                    **{name: version(name) for name in packages},
                },
                "runs": runs,
            }
        )
    )


if __name__ == "__main__":
    main()
