"""``to_sql``: a fitted model as one SELECT of DuckDB."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..._files import replacing
from ..._hints import FilePath
from ...kinds import rule_for
from ..model import count_columns, require_no_dates
from ..wrappers import prepared_models
from .builder import Query, all_of, values_of
from .forests import forest
from .gates import GATES, SPARSE_GATES
from .linear import (
    additive,
    affine,
    exponential,
    hinges,
    locally_linear,
    mapped,
    quadratic,
    stacked,
    with_gates,
)
from .literals import SqlExportError, identifier
from .outcome import CALIBRATIONS, averaged, each_label, labels, probabilities
from .preparation import prepared
from .trees import tree

RULES = {
    "LocallyLinear": locally_linear,
    "TreePath": tree,
    "TreeLeaves": tree,
    "LinkedTree": tree,
    "Forest": forest,
    "Additive": additive,
    "Averaged": averaged,
    "Hinges": hinges,
    "Mapped": mapped,
    "Stacked": stacked,
    "Exponential": exponential,
    "Affine": affine,
    "WithGates": with_gates,
    "Quadratic": quadratic,
    **SPARSE_GATES,
    **GATES,
    **CALIBRATIONS,
}


def to_sql(
    model: Any,
    table: str | tuple[str, ...] = "rows",
    *,
    keep: Sequence[str] = (),
    path: FilePath | None = None,
) -> str:
    """Write a fitted model as one SELECT statement for DuckDB.

    The statement reads the columns of the fit by their names (x0, x1, … where the fit had none)
    and gives, after the columns of ``keep``, for a classifier

    ``label``
        The class, in the type that the classes have.
    ``score``, or ``score_<class>`` of several classes
        What ``decision_function`` gives. Averages of calibrated models have none.
    ``probability_<class>``
        Where the model has ``predict_proba``.

    and for a regressor ``value``, or ``value_0``, ``value_1``, … Where a row may have several
    labels, ``label_<class>`` is 0 or 1. NULL and NaN are missing values. Where the model would
    refuse a row (a missing or unknown value that it does not take, infinity), all of these are
    NULL. Numbers are DOUBLE; a model of float32 sees columns and pair columns rounded to it, so
    that rows take the branches that they take in Python. A row within rounding of a linear split,
    or of being as far from one anchor as from the next, may take the other side.

    Parameters
    ----------
    model : estimator, Pipeline, search or wrapper
        Fitted. What ``save`` takes, but for kernel machines, conformal kernels and dates.
    table : str or tuple of str, default="rows"
        The table, view, DataFrame or file that is scored; a tuple names catalog, schema and table.
        All names are quoted.
    keep : sequence of str, default=()
        Columns of the table that the result has, too, such as a key.
    path : str, path or None, default=None
        A file that the text is written to, whole or not at all.

    Returns
    -------
    str

    Raises
    ------
    SqlExportError
        The model has no such text; the message names the kind, and what to do.
    """
    whole, parts = prepared_models(model, SqlExportError)
    require_no_dates(parts, SqlExportError, "which the SQL text does not read")
    query, source = Query(), _source(table)
    names = _column_names(parts[0])
    scores = [_scores(query, *part, names) for part in parts]
    results = _results(query, whole, scores)
    _check_names([*keep, *results])
    text = _statement(query, source, [identifier(one) for one in keep], results)
    if path is not None:
        with replacing(Path(path)) as file:
            file.write(text.encode())
    return text


def _source(table):
    parts = (table,) if isinstance(table, str) else tuple(table)
    if not parts or not all(isinstance(part, str) for part in parts):
        raise SqlExportError(f"table={table!r} is no name: give a text, or a tuple of texts.")
    return ".".join(map(identifier, parts))


def _column_names(part):
    """Quoted names of all raw columns."""
    preparation, names, estimator = part
    count = count_columns(estimator) if preparation is None else preparation.n_features
    names = [] if names is None else [*names]
    names += [f"x{d}" for d in range(len(names), count)]
    _check_names(names)
    return [identifier(name) for name in names]


def _check_names(names):
    folded = [name.casefold() for name in names]
    for name in names:
        if folded.count(name.casefold()) > 1:
            raise SqlExportError(
                f"Two columns are called {name[:40]!r}, but for upper and lower case, which DuckDB "
                "does not tell apart: rename one."
            )


def _scores(query, preparation, names, estimator, columns):
    predictor = estimator.predictor_
    rule_for("sql", predictor, SqlExportError)
    takes_missing = getattr(predictor, "takes_missing", False)
    X = prepared(query, preparation, columns, takes_missing)
    seen = query.in_precision(X, predictor.dtype)
    for x, z in zip(X, seen):
        if x != z:  # too large for float32
            query.require(f"coalesce(isfinite({z}), {x} IS NULL)")
    return [query.let(score) for score in values_of(query, predictor, seen)]


def _results(query, whole, scores):
    """Expressions by the names of the result's columns."""
    outcome = whole.outcome
    if whole.classes is None:
        return _named("value", range(len(scores[0])), scores[0])
    classes = whole.classes.tolist()
    if outcome.is_of_each_label:
        pairs = [each_label(score) for score in scores[0]]
        found = _named("label", classes, [one for one, _ in pairs], always=True)
        found |= _named("score", classes, scores[0], always=True)
        chances = [chance for _, chance in pairs] if outcome.gives_probabilities else []
        return found | _named("probability", classes, chances, always=True)
    chances = probabilities(query, outcome, scores) if outcome.gives_probabilities else []
    found = {"label": query.let(labels(query, outcome, classes, scores, chances))}
    if len(scores) == 1:
        found |= _named("score", classes, scores[0])
    return found | _named("probability", classes, chances, always=True)


def _named(word, things, expressions, always=False):
    """Names by the word and the class; by its number where names are the same to DuckDB."""
    if len(expressions) == 1 and not always:
        return {word: expressions[0]}
    names = [f"{word}_{thing}" for thing in things]
    if len({name.casefold() for name in names}) < len(names):
        names = [f"{word}_{k}" for k in range(len(names))]
    return dict(zip(names, expressions))


def _statement(query, source, keep, results):
    """Layers of columns, and the result of the last one."""
    is_good = query.let(all_of([f"({one})" for one in query.checks]))
    by_layer = [[] for _ in range(1 + max(query.layers.values()))]
    for expression, name in query.names.items():
        by_layer[query.layers[name]].append(f"{expression} AS {name}")
    by_layer[0] += [f"{name} AS k{k}" for k, name in enumerate(keep)]
    stem = "nearlinear_"
    while stem in source.casefold():
        stem += "_"
    layers = []
    for number, columns in enumerate(by_layer):
        columns = columns if number == 0 else ["*", *columns]
        before = source if number == 0 else f"{stem}{number - 1}"
        layers.append(f"{stem}{number} AS (\n{_select(columns, before)})")
    told = [f"k{k} AS {name}" for k, name in enumerate(keep)]
    told += [
        f"CASE WHEN {is_good} THEN {expression} END AS {identifier(name)}"
        for name, expression in results.items()
    ]
    last = f"{stem}{len(layers) - 1}"
    return "WITH " + ",\n".join(layers) + "\n" + _select(told, last)


def _select(columns, source):
    return "SELECT " + ",\n  ".join(columns) + f"\nFROM {source}\n"
