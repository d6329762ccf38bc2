"""One fit on kernels in a process of its own, so that its memory can be told from all else.

``python -m benchmarks.kernel_fit_child mkl --rows 4000 --solver newton`` prints seconds and memory
as JSON; so do ``machine ijcnn1`` and ``mwu --rows 8000``.
"""

import argparse
import json
import time

import numpy as np
from scipy.sparse import csr_matrix

from benchmarks.bench_kernel_svm import LIBSVM_TOL, solve, warm_up
from benchmarks.kernel_sets import MACHINES, SMOKE_ROWS, kernel_rows
from benchmarks.mklpy_baseline import N_KERNELS, problem
from nearlinear import MWUMKLClassifier, SimpleMKLClassifier
from nearlinear.kernels import Gaussian, Linear, Polynomial
from reproduce.memory import forget_peak, peak_bytes, present_bytes


def mkl_rows(n_rows, seed):
    return problem(n_rows, seed)


def ten_gaussians():
    """The kernels of ``mklpy_baseline``: gammas as multiples of one over the median distance²."""
    return [Gaussian(width=float(gamma**-0.5)) for gamma in np.geomspace(0.03, 10, N_KERNELS)]


KERNELS = (Linear(), Polynomial(2), Gaussian(gamma=1 / 123))
C = 1.0  # memory does not depend on it, seconds do
TOL = 0.05


def mwu_model(**settings):
    return MWUMKLClassifier(list(KERNELS), C=C, tol=TOL, **settings)


def measured(call):
    """What ``call`` returns, with seconds and bytes."""
    before, peak_of_reading = present_bytes(), peak_bytes()
    forget_peak()
    start = time.perf_counter()
    value = call()
    seconds = time.perf_counter() - start
    peak = peak_bytes()
    return value, {
        "seconds": seconds,
        "beyond_data": peak - before,
        "peak": max(peak, peak_of_reading),
    }


def machine_case(options):
    case = next(case for case in MACHINES if case.name == options.set)
    warm_up()
    X, signs = kernel_rows(case.name, SMOKE_ROWS if options.smoke else None)
    solution, took = measured(lambda: solve(case.kernel, X, signs, case.C, tol=LIBSVM_TOL))
    return took | {"n_rows": len(signs), "gap": solution.gap / solution.objective}


def mkl_case(options):
    settings = {"tol": 0.01, "weight_solver": options.solver, "n_jobs": options.jobs}
    model = SimpleMKLClassifier(ten_gaussians(), **settings)
    # Sums of kernels are double up to a thousand rows and single beyond: both are compiled.
    for n_rows in (200, 1100):
        model.fit(*mkl_rows(n_rows, seed=2))
    X, y = mkl_rows(options.rows, seed=0)
    took = measured(lambda: model.fit(X, y))[1]
    test = mkl_rows(options.rows, seed=1)
    return took | {
        "C": model.C,
        "gap": model.duality_gap_ / model.objective_,
        "objective": model.objective_,
        "machines": model.n_iter_,
        "in_use": int((model.kernel_weights_ > 0).sum()),
        "test_accuracy": 100 * model.score(*test),
    }


def mwu_case(options):
    model = mwu_model(n_jobs=options.jobs)
    X, signs = kernel_rows("a9a", options.rows)
    X = csr_matrix(X)
    model.fit(X[:300], signs[:300])
    took = measured(lambda: model.fit(X, signs))[1]
    return took | {
        "n_rows": len(signs),
        "gap": model.duality_gap_ / model.objective_,
        "n_support": model.n_support_,
        "weights": model.kernel_weights_.tolist(),
    }


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kernel_fit_child")
    parser.add_argument("what", choices=("machine", "mkl", "mwu"))
    parser.add_argument("set", nargs="?", help="of a machine")
    parser.add_argument("--rows", type=int)
    parser.add_argument("--solver", default="newton", help="of kernel weights")
    parser.add_argument("--jobs", type=int, default=1, help="threads")
    parser.add_argument("--smoke", action="store_true", help="a few rows")
    options = parser.parse_args(arguments)
    case = {"machine": machine_case, "mkl": mkl_case, "mwu": mwu_case}[options.what]
    print(json.dumps(case(options)))


if __name__ == "__main__":
    main()
