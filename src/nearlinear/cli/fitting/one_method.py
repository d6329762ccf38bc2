"""One method, as ``fit --method`` takes it: its parameters, and what comes before it."""

import ast

import numpy as np

from ..._similar_names import did_you_mean, similar_names
from .._errors import CommandError
from .._methods import is_regressor
from ..tables.cells import check_texts, numbers

_MOST_BYTES = 1 << 32  # of sparse rows that are filled in


def models_of(names, arguments, **settings):
    """Those of the methods that the settings suit; if there is none, what is wrong."""
    made, failure = {}, None
    for name in names:
        try:
            made[name] = _estimator(name, arguments, settings)
        except CommandError as error:
            failure = failure or error
    if not made:
        raise failure
    return made


def _estimator(method, arguments, settings):
    import nearlinear

    cls = getattr(nearlinear, method)
    settings = settings | dict(_setting(text) for text in arguments.settings)
    known = cls._get_param_names()
    for name in settings:
        if name not in known:
            hint = did_you_mean(similar_names(name, known))
            raise CommandError(
                f"--set {name}: {hint}{method} has the parameters {', '.join(known)}"
            )
    if "random_state" in known:
        settings.setdefault("random_state", arguments.seed)
    estimator = cls(**settings)
    try:
        estimator._validate_params()
    except ValueError as error:
        raise CommandError(str(error)) from error
    return estimator


def _setting(text):
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise CommandError(f"--set {text}: write NAME=VALUE")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return name, value  # a word


def suiting(names, y, task, arguments):
    """The method for a target: of two, that which learns what it holds."""
    where = f"{arguments.data}, column {arguments.target or 'y'!r}"
    if len(names) > 1:
        return next(name for name in names if is_regressor(name) == task.is_regression)
    (name,) = names
    if arguments.task is not None and is_regressor(name) != task.is_regression:
        raise CommandError(f"--task {arguments.task}: {name} is for the other one")
    if is_regressor(name) and y.dtype.kind not in "fiub":
        raise CommandError(f"{where}: it holds no numbers, and {name} learns numbers; "
                           "choose a classifier with --method")  # fmt: skip
    if not is_regressor(name) and y.dtype.kind == "f" and (y != np.floor(y)).any():
        raise CommandError(f"{where}: it holds real numbers, and {name} learns classes; "
                           "choose a regressor, such as --method LDKLRegressor")  # fmt: skip
    return name


def pipeline_of(estimator, piece, arguments):
    """The method behind what its rows ask for, and these rows.

    Numbers are scaled. A table with texts, dates or missing cells goes through a ``TableEncoder``;
    methods that take missing cells keep those of a table of numbers.
    """
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from nearlinear import TableEncoder

    takes_missing = estimator.__sklearn_tags__().input_tags.allow_nan
    place = (arguments.data, piece.first)
    try:
        X = numbers(
            piece.values, piece.names, *place, can_drop=True, takes_missing=takes_missing
        )  # fmt: skip
    except CommandError:
        if arguments.no_scaling or piece.names is None:
            raise
        check_texts(piece.values, piece.names, *place)
        kind = "values" if is_regressor(type(estimator).__name__) else "classes"
        return make_pipeline(TableEncoder(target_type=kind), estimator), piece.values
    model = make_pipeline("passthrough" if arguments.no_scaling else StandardScaler(), estimator)
    return model, _suited(model, X)


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


def name_features(model, names):
    """Afterwards: a table with names would be fitted to columns in another order of memory."""
    if names is not None:
        first = model[-1] if model[0] == "passthrough" else model[0]
        if not hasattr(first, "feature_names_in_"):
            first.feature_names_in_ = np.array(names, dtype=object)
