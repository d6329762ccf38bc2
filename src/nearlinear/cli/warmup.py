"""``nearlinear warmup``: compile the functions of prediction and model selection in advance."""

import argparse
import os
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path

from .._code_cache import storage_failure
from ..search.families import FAMILIES
from ._errors import CommandError
from ._progress import progress

_SIZES = 2  # of a family that are fitted: the second one may take other passes


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = "example: RUN pip install nearlinear && nearlinear warmup"
    parser.add_argument(
        "--cache", type=Path, metavar="FOLDER",
        help="store compiled code in this folder; processes with NUMBA_CACHE_DIR=FOLDER use it, "
        "also if they may not write to it",
    )  # fmt: skip
    parser.add_argument("--quiet", action="store_true", help="print nothing")


def run(arguments: argparse.Namespace) -> None:
    start = time.perf_counter()
    if arguments.cache is not None:
        _store_in(arguments.cache)
    models = _models()
    with nullcontext(_silent) if arguments.quiet else progress(len(models)) as begin:
        for name, warm in models:
            begin(f"compiling {name}")
            warm()
    failure = storage_failure()
    if arguments.cache is not None and failure is not None:
        raise CommandError(failure)
    if not arguments.quiet:
        seconds = time.perf_counter() - start
        print(f"{len(models)} kinds of models are compiled ({seconds:.1f} s)")
        if failure is not None:
            print(f"The code is not stored. {failure}")


def _store_in(folder):
    """Let this process store compiled code in a folder: numba reads the variable when imported."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        reason = error.strerror or error
        raise CommandError(f"--cache {folder}: the folder is not writable ({reason})") from error
    os.environ["NUMBA_CACHE_DIR"] = str(folder.absolute())


def _silent(label):
    pass


def _models():
    """Kinds of models, each with a function that predicts with a tiny one in both precisions."""
    import nearlinear

    fast = {"random_state": 0}
    makers = {
        "anchors": lambda: nearlinear.LLCSAPLClassifier(4, n_neighbors=2, max_iter=2, **fast),
        "reconstruction codes": lambda: nearlinear.LCCSVMClassifier(4, n_neighbors=2, **fast),
        "inverse distances": lambda: nearlinear.LLSVMClassifier(
            4, n_neighbors=2, coding="inverse", **fast
        ),
        "clusters": lambda: nearlinear.ClusteredSVMClassifier(3, **fast),
        "trees": lambda: nearlinear.LDKLClassifier(2, max_iter=2, **fast),
        "trees of constants": lambda: nearlinear.LDKLClassifier(
            2, max_iter=2, node_gate="indicator", **fast
        ),
        "projected trees": lambda: nearlinear.LDKLClassifier(2, max_iter=2, n_components=2, **fast),
        "local kernels": lambda: nearlinear.MLLKMClassifier(),
        "local kernels by feature": lambda: nearlinear.MLLKMClassifier(per_feature=True),
        "gated linear models": lambda: nearlinear.LMKLClassifier(n_copies=2, **fast),
        "kernel machines": lambda: nearlinear.UniformMKLClassifier("gaussian"),
    }
    found = [(name, _warming(maker)) for name, maker in makers.items()]
    return found + [(f"{name} of a search", _searching(name)) for name in FAMILIES]


def _warming(maker):
    def warm():
        import warnings

        import numpy as np
        from sklearn.preprocessing import StandardScaler

        rng = np.random.default_rng(0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for dtype in (np.float32, np.float64):
                X = rng.standard_normal((60, 3)).astype(dtype)
                scaler = StandardScaler().fit(X)
                first, second = (X[:, :2] > 0).T.astype(int)
                for y in (first, first + second):
                    model = maker().fit(X, y)
                    model.predict(X)
                    model.compile(scaler)(X[0])

    return warm


def _searching(family):
    """A function that does with a family what a search does: of classes, and of values."""

    def warm():
        import warnings

        import numpy as np

        from nearlinear import NearLinearClassifier, NearLinearRegressor

        from ..estimators._base.input import fit_rows

        X = np.random.default_rng(0).standard_normal((60, 3)).astype(np.float32)
        first, second = (X[:, :2] > 0).T.astype(int)
        problems = [(NearLinearClassifier(), first), (NearLinearClassifier(), first + second)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for model, y in [*problems, (NearLinearRegressor(), X[:, 0])]:
                _fit_sizes(family, fit_rows(model, X, y))

    return warm


def _fit_sizes(family, rows):
    from ..search.candidates import Shape
    from ..search.portfolio import portfolio
    from ..single_row.scorer import RowScorer

    shape = Shape(*rows.X.shape, rows.targets.shape[1], hasattr(rows.task, "classes"))
    found = portfolio(shape, False, True, True, [family])
    for candidate in [one for one in found if one.family == family][:_SIZES]:
        predictor = candidate.fit(rows, 0, 1)
        row = rows.X[0].astype(predictor.dtype)
        predictor(row[None], n_jobs=1)
        RowScorer(predictor, len(row), row.dtype)(row)
