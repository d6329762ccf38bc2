"""``nearlinear fit``: a model from a table.

Reads the table, tries the method on held-out rows, fits it to all of them and writes a model file
that also holds the scaling of the features.
"""

import argparse
import ast
import json
import sys
import tempfile
import time
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np

from ._errors import CommandError
from ._figures import class_figures, in_short, never_found, value_figures
from ._methods import find_methods, is_regressor, offered
from ._output_file import STANDARD, add_force, check_standard_output, check_writable
from ._progress import progress
from .tables.cells import numbers
from .tables.columns import add_column_arguments, with_columns
from .tables.csv_format import add_csv_arguments, csv_format
from .tables.csv_tables import name_of
from .tables.reading import whole
from .tables.target import RULE, holds_values

_CHOSEN = ["LLCSAPLClassifier", "LDKLRegressor"]  # of which the target chooses one
_MOST_BYTES = 1 << 32  # of sparse rows that are filled in
_EXAMPLES = f"""\
classes or values:
  {RULE.replace(chr(10), chr(10) + "  ")}

examples:
  nearlinear fit train.csv --target price --drop id --out price.nlm
  nearlinear fit train.csv.gz --target price --delimiter ';' --decimal , --encoding latin-1
  nearlinear fit train.parquet --target label --method ldkl --set C=10 --set depth=4
  nearlinear fit train.csv --target label --out - | ssh host 'cat > model.nlm'
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EXAMPLES
    parser.add_argument(
        "data", help="table: .csv, .tsv (also .gz), .parquet, .svmlight or .npz (X and y), or -"
    )
    parser.add_argument("--target", metavar="COL", help="column to predict (not for svmlight, npz)")
    add_column_arguments(parser)
    method = parser.add_argument(
        "--method", metavar="NAME",
        help="estimator, in any case, short or long: nearlinear methods lists them (default: "
        f"{' or '.join(_CHOSEN)}, as the target is)",
    )  # fmt: skip
    method.values = offered()
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", dest="settings",
        help="a parameter of the estimator; may be given several times",
    )  # fmt: skip
    parser.add_argument(
        "--out", default="model.nlm", metavar="PATH",
        help="model file, or - for standard output (default: %(default)s)",
    )  # fmt: skip
    add_force(parser)
    parser.add_argument(
        "--hold-out", type=float, default=0.2, metavar="SHARE",
        help="share of the rows to try the model on before it is fitted to all (default: 0.2)",
    )  # fmt: skip
    parser.add_argument("--no-scaling", action="store_true", help="features are scaled already")
    parser.add_argument("--seed", type=int, default=0, help="of all random numbers (default: 0)")
    add_csv_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> None:
    form = csv_format(arguments)
    _check(arguments)
    names = find_methods(arguments.method) if arguments.method else _CHOSEN
    models = _models(names, arguments)
    start = time.perf_counter()
    with progress(3 if arguments.hold_out else 2, plain=not arguments.json) as begin:
        begin(f"reading {name_of(arguments.data)}")
        piece = with_columns(whole(arguments.data, arguments.target, form), arguments)
        X = numbers(
            piece.values, piece.names, arguments.data, piece.first, can_drop=True,
            takes_missing=_take_missing(models),
        )  # fmt: skip
        y = piece.target
        if X.shape[1] == 0:
            raise CommandError(f"{arguments.data}: there is no column beside {arguments.target!r}")
        name = _suiting(names, y, arguments)
        model = models.get(name) or _model(name, arguments)
        X = _suited(model, X)
        try:
            # standard output is for the model or the result, not for what verbose=1 tells
            with redirect_stdout(sys.stderr):
                figures = _held_out(model, X, y, arguments, begin)
                begin(f"fitting {name} to all {X.shape[0]:,} rows")
                model.fit(X, y)
        except (ValueError, MemoryError) as error:
            raise CommandError(f"{arguments.data}: {error}") from error
    if figures is not None:
        model[-1].validation_score_ = figures["R2" if "R2" in figures else "accuracy"]
    _name_features(model, piece.names)
    n_bytes = _save(model, arguments.out)
    _tell(arguments, model[-1], X.shape, y, figures, time.perf_counter() - start, n_bytes)


def _check(arguments):
    """What can be said before the table is read."""
    if arguments.out == STANDARD:
        if sys.stdout.isatty():
            raise CommandError("--out -: a model is no text for a terminal; name a file or a pipe")
        check_standard_output(inputs=[arguments.data])
    else:
        check_writable(Path(arguments.out), inputs=[arguments.data], force=arguments.force)
    if not 0 <= arguments.seed < 2**32:
        raise CommandError(f"--seed {arguments.seed}: a whole number from 0 to 2^32 - 1")
    if not 0.0 <= arguments.hold_out < 1.0:
        raise CommandError(f"--hold-out {arguments.hold_out}: a share from 0 to below 1")


def _models(names, arguments):
    """Those of the methods that the settings suit; if there is none, what is wrong."""
    made, failure = {}, None
    for name in names:
        try:
            made[name] = _model(name, arguments)
        except CommandError as error:
            failure = failure or error
    if not made:
        raise failure
    return made


def _take_missing(models):
    return all(model[-1].__sklearn_tags__().input_tags.allow_nan for model in models.values())


def _model(method, arguments):
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    import nearlinear

    cls = getattr(nearlinear, method)
    settings = dict(_setting(text) for text in arguments.settings)
    known = cls._get_param_names()
    for name in settings:
        if name not in known:
            raise CommandError(f"--set {name}: {method} has the parameters {', '.join(known)}")
    if "random_state" in known:
        settings.setdefault("random_state", arguments.seed)
    estimator = cls(**settings)
    try:
        estimator._validate_params()
    except ValueError as error:
        raise CommandError(str(error)) from error
    scaler = "passthrough" if arguments.no_scaling else StandardScaler()
    return make_pipeline(scaler, estimator)


def _suiting(names, y, arguments):
    """The method for a target: of two, that which learns what it holds."""
    where = f"{arguments.data}, column {arguments.target or 'y'!r}"
    if len(names) > 1:
        return next(name for name in names if is_regressor(name) == holds_values(y))
    (name,) = names
    if is_regressor(name) and y.dtype.kind not in "fiub":
        raise CommandError(f"{where}: it holds no numbers, and {name} learns numbers; "
                           "choose a classifier with --method")  # fmt: skip
    if not is_regressor(name) and y.dtype.kind == "f" and (y != np.floor(y)).any():
        raise CommandError(f"{where}: it holds real numbers, and {name} learns classes; "
                           "choose a regressor, such as --method LDKLRegressor")  # fmt: skip
    return name


def _suited(model, X):
    """Sparse rows stay sparse where the method takes such, and are then scaled uncentered."""
    from scipy.sparse import issparse
    from sklearn.utils import get_tags

    if not issparse(X):
        return X
    if not get_tags(model[-1]).input_tags.sparse:
        n_bytes = 8 * X.shape[0] * X.shape[1]
        if n_bytes > _MOST_BYTES:
            raise CommandError(
                f"{type(model[-1]).__name__} takes no sparse rows, and filled in these are "
                f"{n_bytes / 1e9:,.1f} GB; choose another, such as --method LLSVMClassifier"
            )
        return X.toarray()
    if model[0] != "passthrough":
        model[0].set_params(with_mean=False)
    return X


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


def _held_out(model, X, y, arguments, begin):
    """Figures on rows that the model has not seen."""
    from sklearn.base import clone, is_classifier
    from sklearn.model_selection import train_test_split

    if arguments.hold_out == 0.0:
        return None
    strata = y if is_classifier(model) else None
    if strata is not None:
        _check_rare(y, arguments)
    options = {"test_size": arguments.hold_out, "random_state": arguments.seed}
    try:
        parts = train_test_split(X, y, stratify=strata, **options)
    except ValueError as error:
        raise CommandError(f"{arguments.data}: {error} Give --hold-out 0") from error
    X_train, X_test, y_train, y_test = parts
    begin(f"trying {type(model[-1]).__name__} on {len(y_test):,} held-out rows")
    answers = clone(model).fit(X_train, y_train).predict(X_test)
    return (value_figures if strata is None else class_figures)(y_test, answers)


def _check_rare(y, arguments):
    labels, counts = np.unique(y, return_counts=True)
    if counts.min() > 1:
        return
    if holds_values(y):
        raise CommandError(
            f"{arguments.data}, column {arguments.target or 'y'!r}: it holds {len(labels):,} "
            "different numbers, which is a regression; choose --method LDKLRegressor, or learn "
            "each as a class with --hold-out 0"
        )
    raise CommandError(
        f"{arguments.data}: class {labels[counts.argmin()]!s} has one row, too few to hold any "
        "out; remove the row or give --hold-out 0"
    )


def _save(model, out):
    """Write the model file; gives its size."""
    import nearlinear

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.nlm" if out == STANDARD else Path(out)
        try:
            nearlinear.save(model, path)
        except ValueError as error:
            raise CommandError(str(error)) from error
        if out == STANDARD:
            sys.stdout.buffer.write(path.read_bytes())
            sys.stdout.flush()
        return path.stat().st_size


def _tell(arguments, estimator, shape, y, figures, seconds, n_bytes):
    cost, method = estimator.cost_, type(estimator).__name__
    measure = "R2" if is_regressor(method) else "accuracy"
    found = {
        "model": arguments.out,
        "method": method,
        "task": "regression" if is_regressor(method) else "classification",
        "rows": int(shape[0]),
        "features": int(shape[1]),
        f"held_out_{measure}": figures and figures[measure],
        "held_out": figures,
        "seconds": round(seconds, 3),
        "multiply_adds": cost.multiply_adds,
        "times_linear": cost.times_linear,
        "bytes": n_bytes,
    }
    # standard output holds the model, if that was asked for
    stream = sys.stderr if arguments.out == STANDARD else sys.stdout
    if arguments.json:
        print(json.dumps(found), file=stream)
        return
    if is_regressor(method) and arguments.method != method:
        print(
            f"{arguments.target or 'y'} holds {len(np.unique(y)):,} different numbers: a "
            f"regression, by {method} (--method chooses another)",
            file=stream,
        )
    tried = "" if figures is None else f", {in_short(figures)}"
    print(f"{method} on {shape[0]:,} rows of {shape[1]} features{tried}", file=stream)
    if figures is not None and never_found(figures):
        print(never_found(figures), file=stream)
    print(
        f"{'model' if arguments.out == STANDARD else arguments.out}: {n_bytes:,} bytes; a "
        f"prediction costs {cost.times_linear:.1f} x a linear model ({seconds:.1f} s)",
        file=stream,
    )
