"""``nearlinear fit``: a model from a table.

Reads the table, tries the method on held-out rows, fits it to all of them and writes a model file
that also holds the scaling of the features.
"""

import argparse
import ast
import json
import sys
import time
from pathlib import Path

import numpy as np

from ._failure import CommandError
from ._output_file import check_writable
from ._tables import numbers, whole

_EXAMPLES = """\
examples:
  nearlinear fit train.csv --target price --method LDKLRegressor --out price.nlm
  nearlinear fit train.parquet --target label --set C=10 --set n_anchors=50
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EXAMPLES
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("data", help="table: .csv, .tsv, .parquet, .svmlight or .npz (X and y)")
    parser.add_argument("--target", metavar="COL", help="column to predict (not for svmlight, npz)")
    parser.add_argument(
        "--method", default="LLCSAPLClassifier", metavar="NAME",
        help="estimator of nearlinear (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", dest="settings",
        help="a parameter of the estimator; may be given several times",
    )  # fmt: skip
    parser.add_argument("--out", type=Path, default=Path("model.nlm"), metavar="PATH")
    parser.add_argument(
        "--hold-out", type=float, default=0.2, metavar="SHARE",
        help="share of the rows to try the model on before it is fitted to all (default: 0.2)",
    )  # fmt: skip
    parser.add_argument("--no-scaling", action="store_true", help="features are scaled already")
    parser.add_argument("--seed", type=int, default=0, help="of all random numbers (default: 0)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> None:
    import nearlinear

    check_writable(arguments.out)
    if not 0 <= arguments.seed < 2**32:
        raise CommandError(f"--seed {arguments.seed}: a whole number from 0 to 2^32 - 1")
    if not 0.0 <= arguments.hold_out < 1.0:
        raise CommandError(f"--hold-out {arguments.hold_out}: a share from 0 to below 1")
    model = _model(arguments)
    piece = whole(arguments.data, arguments.target)
    X, y = numbers(piece.values, piece.names, arguments.data, piece.first), piece.target
    if X.shape[1] == 0:
        raise CommandError(f"{arguments.data}: there is no column beside {arguments.target!r}")
    X = _suited(model, X)
    _check_target(model, y, arguments)
    start = time.perf_counter()
    try:
        score = _held_out_score(model, X, y, arguments)
        model.fit(X, y)
    except (ValueError, MemoryError) as error:
        raise CommandError(f"{arguments.data}: {error}") from error
    seconds = time.perf_counter() - start
    if score is not None:
        model[-1].validation_score_ = score
    _name_features(model, piece.names)
    try:
        nearlinear.save(model, arguments.out)
    except ValueError as error:
        raise CommandError(str(error)) from error
    _tell(arguments, model[-1], X.shape, score, seconds)


def _model(arguments):
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    import nearlinear

    methods = [n for n in nearlinear.__all__ if n.endswith(("Classifier", "Regressor"))]
    if arguments.method not in methods:
        raise CommandError(f"--method {arguments.method}: there are {', '.join(methods)}")
    cls = getattr(nearlinear, arguments.method)
    settings = dict(_setting(text) for text in arguments.settings)
    known = cls._get_param_names()
    for name in settings:
        if name not in known:
            raise CommandError(
                f"--set {name}: {arguments.method} has the parameters {', '.join(known)}"
            )
    if "random_state" in known:
        settings.setdefault("random_state", arguments.seed)
    estimator = cls(**settings)
    try:
        estimator._validate_params()
    except ValueError as error:
        raise CommandError(str(error)) from error
    scaler = "passthrough" if arguments.no_scaling else StandardScaler()
    return make_pipeline(scaler, estimator)


def _suited(model, X):
    """Sparse rows stay sparse where the method takes such, and are then scaled uncentred."""
    from scipy.sparse import issparse
    from sklearn.utils import get_tags

    if not issparse(X):
        return X
    if not get_tags(model[-1]).input_tags.sparse:
        return X.toarray()
    if model[0] != "passthrough":
        model[0].set_params(with_mean=False)
    return X


def _check_target(model, y, arguments):
    from sklearn.base import is_classifier
    from sklearn.utils.multiclass import type_of_target

    where = f"{arguments.data}, column {arguments.target or 'y'!r}"
    if is_classifier(model) and type_of_target(y).startswith("continuous"):
        raise CommandError(
            f"{where}: it holds real numbers; choose a regressor, such as --method LDKLRegressor"
        )
    if not is_classifier(model) and y.dtype.kind not in "fiub":
        raise CommandError(f"{where}: it holds no numbers; choose a classifier with --method")


def _setting(text):
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise CommandError(f"--set {text}: write NAME=VALUE")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return name, value  # a word


def _name_features(model, names):
    """Afterwards: a table with names would be fitted to columns in another order of memory."""
    if names is not None:
        first = model[-1] if model[0] == "passthrough" else model[0]
        first.feature_names_in_ = np.array(names, dtype=object)


def _held_out_score(model, X, y, arguments):
    """Accuracy or R² on rows that the model has not seen."""
    from sklearn.base import clone, is_classifier
    from sklearn.model_selection import train_test_split

    if arguments.hold_out == 0.0:
        return None
    strata = y if is_classifier(model) else None
    if strata is not None:
        labels, counts = np.unique(y, return_counts=True)
        if counts.min() < 2:
            raise CommandError(
                f"{arguments.data}: class {labels[counts.argmin()]!s} has one row, too few to hold "
                "any out: give --hold-out 0"
            )
    options = {"test_size": arguments.hold_out, "random_state": arguments.seed}
    try:
        parts = train_test_split(X, y, stratify=strata, **options)
    except ValueError as error:
        raise CommandError(f"{arguments.data}: {error} Give --hold-out 0") from error
    X_train, X_test, y_train, y_test = parts
    _say(arguments, f"trying {arguments.method} on {len(y_test)} held-out rows")
    return float(clone(model).fit(X_train, y_train).score(X_test, y_test))


def _say(arguments, text):
    if not arguments.json:
        print(text, file=sys.stderr, flush=True)


def _tell(arguments, estimator, shape, score, seconds):
    cost = estimator.cost_
    measure = "accuracy" if hasattr(estimator, "classes_") else "R2"
    found = {
        "model": str(arguments.out),
        "method": arguments.method,
        "rows": int(shape[0]),
        "features": int(shape[1]),
        f"held_out_{measure}": score,
        "seconds": round(seconds, 3),
        "multiply_adds": cost.multiply_adds,
        "times_linear": cost.times_linear,
        "bytes": arguments.out.stat().st_size,
    }
    if arguments.json:
        print(json.dumps(found))
        return
    tried = "" if score is None else f", {measure} {score:.4f} on held-out rows"
    print(f"{arguments.method} on {shape[0]:,} rows of {shape[1]} features{tried}")
    print(
        f"{arguments.out}: {found['bytes']:,} bytes; a prediction costs {cost.times_linear:.1f} x "
        "a linear model"
    )
