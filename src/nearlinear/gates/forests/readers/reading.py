"""A fitted forest of any library that we know, read and held against the library's own scores."""

import warnings
from os import PathLike
from pathlib import Path

import numpy as np

from . import catboost, hist_boosting, lightgbm, scikit_trees, xgboost
from .record import ForestNotRead

_OF_FILES = (lightgbm, xgboost, catboost)  # ours: the libraries are imported when one is read
_READERS = (scikit_trees, hist_boosting, *_OF_FILES)
_N_CHECKED = 1000
_KNOWN = (
    "scikit-learn's DecisionTree, ExtraTree, RandomForest, ExtraTrees, GradientBoosting and "
    "HistGradientBoosting, LightGBM, XGBoost and CatBoost"
)


def read_forest(model, X=None):
    """The arrays of a fitted forest, or of a file of one.

    At once the scores of 1,000 rows are compared with the library's own: of rows of ``X``, or of
    rows made of the forest's thresholds, where a comparison that is a bit off shows first.

    Parameters
    ----------
    model : fitted model, or path of a file that LightGBM, XGBoost or CatBoost has written
    X : array of shape (n_rows, n_features) or None

    Returns
    -------
    ReadForest
    """
    if isinstance(model, str | PathLike):
        model = _from_file(Path(model))
    reader = next((one for one in _READERS if one.takes(model)), None)
    if reader is None:
        raise ForestNotRead(
            f"{type(model).__name__} is no forest that is read; these are: {_KNOWN}."
        )
    forest = reader.read(model)
    _check(forest, X)
    return forest


def _from_file(path):
    if not path.is_file():
        raise ForestNotRead(f"There is no file {path}.")
    reader = next((one for one in _OF_FILES if one.takes_file(path)), None)
    if reader is None:
        raise ForestNotRead(
            f"{path} is no model file of LightGBM (text), XGBoost (JSON, UBJSON) or CatBoost "
            "(JSON, CBM)."
        )
    try:
        return reader.from_file(path)
    except ImportError as error:
        library = reader.__name__.rpartition(".")[2]
        raise ForestNotRead(
            f"{path} is a file of {library}: install {library} to read it."
        ) from error


def _check(forest, X):
    rows = _rows_at_thresholds(forest) if X is None else np.asarray(X)[:_N_CHECKED]
    rows = np.ascontiguousarray(rows, dtype=forest.gate.dtype)
    if rows.ndim != 2 or rows.shape[1] != forest.n_features:
        raise ForestNotRead(
            f"X has the shape {rows.shape}; the forest was grown on {forest.n_features} columns."
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names of columns, which arrays have not
        theirs = np.asarray(forest.raw_scores(rows), dtype=np.float64)
    ours, sizes = _scores(forest, rows)
    # either side may add in single precision, which loses in proportion to what is added
    unit = 1e-6 if forest.gate.dtype == np.float32 else 1e-11
    wrong = np.abs(ours - theirs) > unit * max(sizes.max(), np.finfo(np.float32).tiny)
    if np.any(wrong):
        row = int(np.flatnonzero(wrong.any(axis=1))[0])
        raise ForestNotRead(
            f"{forest.library} gives other scores than what was read of its trees ({theirs[row]} "
            f"and {ours[row]} for row {row} of {len(rows)}): this version stores them in another "
            "way, or the model has a setting that is not known here."
        )


def _scores(forest, X):
    """Sums over trees in float64, and what absolute values add up to."""
    leaves = forest.gate(X)
    scores = np.tile(forest.intercept, (len(X), 1))
    sizes = np.abs(scores)
    for tree, leaf in enumerate(leaves.T):
        told = forest.values[leaf]
        to = forest.outputs[tree] if told.shape[1] == 1 else slice(None)
        told = told[:, 0] if told.shape[1] == 1 else told
        scores[:, to] += told
        sizes[:, to] += np.abs(told)
    return scores, sizes


def _rows_at_thresholds(forest):
    """Rows of thresholds, the numbers next to them, categories, and missing values."""
    rng, gate = np.random.RandomState(0), forest.gate
    rows = np.zeros((_N_CHECKED, forest.n_features), dtype=gate.dtype)
    is_set = gate.sets >= 0 if len(gate.sets) else np.zeros(len(gate.columns), dtype=bool)
    for column in np.unique(gate.columns[gate.columns >= 0]):
        nodes = np.flatnonzero(gate.columns == column)
        if is_set[nodes].any():
            rows[:, column] = rng.randint(_largest(gate, nodes[is_set[nodes]]) + 1, size=_N_CHECKED)
        else:
            at = gate.thresholds[rng.choice(nodes, _N_CHECKED)]
            largest = np.finfo(gate.dtype).max
            toward = rng.choice(np.array([-largest, 0, largest], dtype=gate.dtype), _N_CHECKED)
            rows[:, column] = np.where(toward == 0, at, np.nextafter(at, toward))
    missing = rng.uniform(size=rows.shape) < 0.1
    rows[missing & forest.takes_missing] = np.nan
    return rows


def _largest(gate, nodes):
    """The largest category that these nodes send to their first child."""
    bits = gate.categories[gate.sets[nodes]].any(axis=0)
    words = np.bitwise_or.reduce(gate.categories[gate.sets[nodes]], axis=0)
    last = np.flatnonzero(bits)
    return 0 if len(last) == 0 else int(last[-1]) * 32 + int(words[last[-1]]).bit_length() - 1
