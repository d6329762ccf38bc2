"""One fit on a9a in a process of its own, so that its memory can be told from everything else's.

``python -m benchmarks.localized_fit_child clmkl --rows 2000 --solver mwu`` prints seconds and
memory as JSON.
"""

import argparse
import contextlib
import ctypes
import json
import time
import warnings

from scipy.sparse import csr_matrix
from sklearn.base import clone

import nearlinear
from benchmarks.kernel_fit_child import measured
from benchmarks.localized_problem import MAKERS, a9a_split, localized_model

_WARM_ROWS = 150


def give_back_free_memory():
    """Let go of pages that were used before: a fit that fits into them would seem to need none."""
    with contextlib.suppress(OSError, AttributeError):  # the C library of Linux has this
        ctypes.CDLL(None).malloc_trim(0)


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.localized_fit_child")
    parser.add_argument("method", choices=(*MAKERS, "affine_lmkl"))
    parser.add_argument("--rows", type=int, help="default: three quarters of a9a")
    parser.add_argument("--form", choices=("dense", "csr"), default="csr", help="of the rows")
    parser.add_argument("--solver", help="default: the method's own")
    parser.add_argument("--max-iter", type=int, help="default: the method's own")
    parser.add_argument("--max-memory", type=float, help="bytes")
    parser.add_argument("--jobs", type=int, default=1, help="threads")
    options = parser.parse_args(arguments)
    asked = {"solver": options.solver, "max_iter": options.max_iter}
    settings = {name: value for name, value in asked.items() if value is not None}
    split = a9a_split(options.rows)
    # Single precision, as sums of kernels are beyond a thousand rows: one compilation is enough.
    X, y = split.X_train.astype("float32"), split.y_train
    if options.form == "csr":
        X = csr_matrix(X)
    model = localized_model(options.method, X.shape[1], n_jobs=options.jobs, **settings)
    nearlinear.set_config(max_memory=options.max_memory)
    warnings.simplefilter("ignore")
    clone(model).fit(X[:_WARM_ROWS], y[:_WARM_ROWS])
    give_back_free_memory()
    start = time.process_time()
    took = measured(lambda: model.fit(X, y))[1]
    took["cpu_seconds"] = time.process_time() - start
    took |= {
        "n_rows": len(y),
        "gap": model.duality_gap_ / model.objective_,
        "n_iter": model.n_iter_,
        "n_support": model.n_support_,
        "accuracy": 100 * model.score(split.X_test, split.y_test),
    }
    print(json.dumps(took))


if __name__ == "__main__":
    main()
