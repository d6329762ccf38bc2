"""The preparation in a model file: its table for every reader, its steps for Python."""

import warnings
from dataclasses import replace

import numpy as np

from ..preparation.raw_rows import raw_rows
from ..preparation.transformers import NoPreparation, preparation_of_steps
from ..runtime.columns.readings import Reading
from ..runtime.container import ModelFileError
from ..runtime.preparation_rules import FIELDS
from .description import NotData, describe, restore
from .model import width_of

# A small file may speak of many columns, for which no memory is taken.
_DRAWN_ROWS, _DRAWN_NUMBERS = 8, 1 << 20


def describe_preparation(steps, estimator, arrays):
    """What a header says of the steps before a model; None where there are none."""
    if not steps:
        return None
    try:
        table = preparation_of_steps(steps, width_of(estimator))
        found = _described(table, arrays)
        found["steps"] = describe(steps, arrays)
    except (NoPreparation, NotData) as error:
        raise ModelFileError(str(error)) from error
    own = getattr(estimator, "_steps", ())  # whose columns have no names that anybody gave
    names = None if own else getattr(estimator, "feature_names_in_", None)
    found["names"] = None if names is None else [str(name) for name in names]
    return found


def _described(table, arrays):
    if table.before is not None:
        after = replace(table, n_features=table.n_inputs, before=None)
        return {"before": _described(table.before, arrays), "after": _described(after, arrays)}
    return {name: _plain(getattr(table, name), arrays) for name in FIELDS}


def _plain(value, arrays):
    """Tuples and readings as lists, which is what JSON has."""
    if isinstance(value, Reading):
        value = (value.column, value.of, value.unknown)
    if isinstance(value, tuple):
        return [_plain(item, arrays) for item in value]
    return describe(value, arrays)


def restored_steps(header, arrays, checked, estimator):
    """The steps before a model, which do what the table says."""
    found = header["preparation"]
    if found is None:
        return []
    steps = restore(found.get("steps"), arrays)
    if not isinstance(steps, list) or not steps:
        raise ModelFileError("The model file's preparation has no steps.")
    _check(steps, checked)
    names = found.get("names")
    if names is not None:
        good = isinstance(names, list) and len(names) == checked.width
        if not good or not all(isinstance(name, str) for name in names):
            raise ModelFileError("The model file's prepared columns have other names than columns.")
        estimator.feature_names_in_ = np.array(names, dtype=object)
    return steps


def _check(steps, checked):
    """Refuse steps that transform a few random rows unlike the file's table.

    Predictions use the steps; ``explain``, ``compile`` and the exports use the table that the steps
    imply. Both must agree with the file.
    """
    n_raw = getattr(steps[0], "n_features_in_", None)
    if type(n_raw) is not int or n_raw != checked.n_features:
        raise _refusal(checked, " (other columns)")
    width = checked.preparation.width
    n_rows = min(_DRAWN_ROWS, _DRAWN_NUMBERS // max(width, checked.n_features))
    prepared = np.random.default_rng(0).standard_normal((n_rows, width))
    if n_rows == 0:
        return
    rows = raw_rows(checked.preparation, prepared)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            implied = preparation_of_steps(steps, width)
            agree = _have_names(steps, width)
            agree = agree and (rows is None or _agree(steps, implied, rows, checked))
        except Exception as error:
            raise _refusal(checked, f" ({type(error).__name__})") from error
    if not agree:
        raise _refusal(checked, "")


def _have_names(steps, width):
    """Whether the steps name as many columns as they make, or some step gives no names."""
    names = None
    try:
        for step in steps:
            names = step.get_feature_names_out(names)
    except (AttributeError, ValueError):
        return True
    return len(names) == width


def _agree(steps, implied, rows, checked):
    expected = checked.preparation(rows)
    results = [implied(rows)]
    if (transformed := _named(rows, checked.feature_names)) is not None:
        for step in steps:
            transformed = step.transform(transformed)
        is_sparse = hasattr(transformed, "toarray")
        results.append(transformed.toarray() if is_sparse else np.asarray(transformed))
    return all(
        np.allclose(result.astype(np.float64), expected, rtol=1e-6, atol=1e-9) for result in results
    )


def _refusal(checked, reason):
    versions = checked.record.get("versions")
    made_by = versions.get("scikit-learn") if isinstance(versions, dict) else None
    made_by = made_by if isinstance(made_by, str) else "unknown"
    return ModelFileError(
        f"Invalid model file: its preprocessing steps do not match its preparation table{reason}. "
        f"It was written with scikit-learn {made_by[:20]}; nearlinear.runtime.load needs the table "
        "only."
    )


def _named(rows, names):
    """Rows as the steps were fitted; None without pandas, whose tables have names."""
    if names is None:
        return rows
    try:
        from pandas import DataFrame
    except ImportError:
        return None
    return DataFrame(rows, columns=names).infer_objects()
