"""What a reader gives: the arrays of a forest, and what its scores mean."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..gate import ForestGate, GrownTree, gather_trees

_WORD = 32
_MOST_WORDS = 1 << 28  # of all sets of categories: a gigabyte


class ForestNotRead(ValueError):
    """A model that no reader takes, and why."""


@dataclass(frozen=True)
class ReadForest:
    """A forest of another library as a gate, and what its leaves hold.

    Scores are ``intercept`` and what ``values`` of the leaves add; ``outputs`` has the output of
    every tree, and 0 of vector leaves. ``link`` says what scores are: "log_loss", logarithms of
    odds, of two classes once they are multiplied by ``steepness``; "shares" of classes, of two the
    second one's less the first one's; "log", logarithms of values; None, the values themselves, or
    scores that are no probabilities. ``loss`` is what the forest was grown for, in our words where
    we have one. ``raw_scores`` is the library's own predictor, from rows to (n_rows, n_outputs),
    and ``takes_missing`` the columns that may have no value there.
    """

    library: str
    gate: ForestGate
    values: np.ndarray
    outputs: np.ndarray
    covers: np.ndarray
    intercept: np.ndarray
    raw_scores: Callable
    takes_missing: np.ndarray
    classes: np.ndarray | None = None
    link: str | None = None
    steepness: float = 1.0
    loss: str | None = None
    feature_names: np.ndarray | None = None

    @property
    def n_features(self):
        return self.gate.n_features

    @property
    def n_outputs(self):
        return len(self.intercept)


def forest_read(library, trees, n_features, dtype, *, raw_scores, intercept, **meaning):
    """A record of grown trees; ``takes_missing`` may be one answer for all columns."""
    if not trees:
        raise ForestNotRead(f"The {library} model has no trees: fit it first.")
    limit = np.finfo(dtype).max  # rows are finite: a split of missing values from all others
    trees = [_within(tree, limit) for tree in trees]
    _require_small_sets(trees)
    gate, values, covers = gather_trees(trees, n_features, dtype)
    meaning["takes_missing"] = np.broadcast_to(meaning["takes_missing"], n_features)
    outputs = np.array([tree.output for tree in trees], dtype=np.int32)
    intercept = np.asarray(intercept, dtype=np.float64)
    return ReadForest(
        library, gate, values, outputs, covers, intercept, raw_scores=raw_scores, **meaning
    )


def _within(tree, limit):
    if np.isfinite(tree.threshold).all():
        return tree
    fields = {**vars(tree), "threshold": np.clip(tree.threshold, -limit, limit)}
    return GrownTree(**fields)


def _require_small_sets(trees):
    found = [one for tree in trees if tree.sets for one in tree.sets if one is not None]
    largest = max((int(np.max(one, initial=0)) for one in found), default=0)
    if len(found) * (largest // _WORD + 1) > _MOST_WORDS:
        raise ForestNotRead(
            f"Category {largest} in {len(found)} splits would need gigabytes of sets: number "
            "categories 0, 1, … before the fit (OrdinalEncoder of scikit-learn does)."
        )


def whole_categories(categories, column):
    """Categories of a column as whole numbers, 0 or more; else a sentence."""
    try:
        found = np.asarray(categories).astype(np.float64)
        good = np.all((found >= 0) & (found == np.floor(found)) & (found < 1 << 31))
    except (TypeError, ValueError):
        good = False
    if not good:
        raise ForestNotRead(
            f"Column {column} has categories that are no whole numbers from 0 on: put an "
            "OrdinalEncoder before the fit, and before this model."
        )
    return found.astype(np.int64)


def recoded(X, categories):
    """Rows with the places of their categories, {column: categories}; unknown ones are missing."""
    X = np.array(X, dtype=np.float64)
    for column, known in categories.items():
        order = np.argsort(known)
        place = np.searchsorted(known[order], X[:, column]).clip(max=len(known) - 1)
        is_known = known[order][place] == X[:, column]
        X[:, column] = np.where(is_known, order[place], np.nan)
    return X


def names_or_none(names, is_default):
    """Feature names as scikit-learn keeps them; None of those that a library makes up."""
    if not names or all(is_default(place, name) for place, name in enumerate(names)):
        return None
    return np.array(names, dtype=object)


def classes_or_numbers(classes, n_outputs):
    """Labels; a booster without any has numbers."""
    found = np.asarray([] if classes is None else classes)
    return found if len(found) else np.arange(max(2, n_outputs))


def not_read_objective(library, objective):
    return ForestNotRead(
        f"{library}'s objective {objective!r} makes something of its scores that is not known "
        "here: read a model of log loss, or a regression."
    )
