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
    if not 0.0 <= arguments.hold_out < 1.0:
        raise CommandError(f"--hold-out {arguments.hold_out}: a share from 0 to below 1")
    model = _model(arguments)
    piece = whole(arguments.data, arguments.target)
    X, y = numbers(piece.values, piece.names, arguments.data, piece.first), piece.target
    start = time.perf_counter()
    try:
        score = _held_out_score(model, X, y, arguments)
        model.fit(_named(X, piece.names), y)
    except (ValueError, MemoryError) as error:
        raise CommandError(f"{arguments.data}: {error}") from error
    seconds = time.perf_counter() - start
    if score is not None:
        model[-1].validation_score_ = score
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
    scaler = "passthrough" if arguments.no_scaling else StandardScaler()
    return make_pipeline(scaler, cls(**settings))


def _setting(text):
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise CommandError(f"--set {text}: write NAME=VALUE")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value  # a word


def _named(X, names):
    if names is None:
        return X
    import pandas

    return pandas.DataFrame(X, columns=names)


def _held_out_score(model, X, y, arguments):
    """Accuracy or R² on rows that the model has not seen."""
    from sklearn.base import clone, is_classifier
    from sklearn.model_selection import train_test_split

    if arguments.hold_out == 0.0:
        return None
    strata = y if is_classifier(model) else None
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
