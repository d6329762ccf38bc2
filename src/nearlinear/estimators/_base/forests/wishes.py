"""What users fix of a forest, and what they say of its columns."""

import numbers
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from ....losses import LogLoss, SquaredError
from ....solvers.forests.pairs import PairColumns
from .boosting import BOOSTING
from .orders import Columns, Shape
from .side_by_side import SIDE_BY_SIDE

_GROWERS = (*BOOSTING, *SIDE_BY_SIDE)
_FEW_LEAVES, _MANY_TREES, _FEW_TREES = 255, 100, 10


@dataclass(frozen=True)
class Wishes:
    """What the user has fixed; None leaves it open."""

    shape: Shape | None
    root: bool | str | None  # True: below the trees; or BESIDE
    pairs: object  # a number, PairColumns, or None
    lam: float | None
    has_slopes: bool | None
    grower: object  # a name, a fitted forest, or None
    columns: Columns
    max_features: float | None  # of all shapes that are tried; None: as they are
    n_jobs: int | None


def wishes_of(model, rows):
    """What the user has fixed."""
    grower = model.grower
    grower = None if isinstance(grower, str) and grower == "auto" else grower
    if type(grower).__name__ == "FrozenEstimator":  # so that a clone of the model keeps it fitted
        grower = grower.estimator
    if isinstance(grower, list | tuple | dict | np.ndarray) or (
        isinstance(grower, str) and grower not in _GROWERS
    ):
        raise ValueError(
            f"grower={grower!r} is unknown: give 'auto', {', '.join(map(repr, _GROWERS))} or a "
            "fitted forest."
        )
    is_fixed = grower is not None and not isinstance(grower, str)
    columns = _columns_of(model, rows)
    lam = {"auto": None, None: np.inf}.get(model.leaf_penalty, model.leaf_penalty)
    has_slopes = {"auto": None, "constant": False, "linear": True}[model.leaf_model]
    pairs = None if isinstance(model.pairs, str) else model.pairs
    if pairs is not None:
        is_number = isinstance(pairs, numbers.Integral)
        pairs = int(pairs) if is_number else _own_pairs(pairs, rows.X.shape[1])
    root = None if model.linear_root == "auto" else model.linear_root
    _require_agreement(grower, columns, pairs, root, has_slopes, model._loss)
    if columns.monotonic is not None:
        has_slopes = root = False
    if columns.interactions is not None:
        has_slopes = False
    return Wishes(
        _shape(model, rows, grower), False if is_fixed else root,
        0 if is_fixed else pairs, lam,
        has_slopes, grower, columns, _max_features(model), model.n_jobs,
    )  # fmt: skip


def _require_agreement(grower, columns, pairs, root, has_slopes, loss):
    """Refuse what one setting asks for and another one cannot give."""
    is_constrained = columns.monotonic is not None or columns.interactions is not None
    names = "monotonic_cst" if columns.monotonic is not None else "interaction_cst"
    has_own = isinstance(pairs, PairColumns) and len(pairs) > 0
    boosts = grower is None or grower in BOOSTING
    for is_wrong, sentence in (
        (has_slopes and is_constrained,
         f"Linear leaves cannot obey {names}: give leaf_model='constant'."),
        (root and columns.monotonic is not None,
         "A linear root cannot obey monotonic_cst: give linear_root=False."),
        (has_own and is_constrained,
         f"Splits on pair columns cannot obey {names}: give pairs=0."),
        (root and not boosts,
         f"grower={grower!r} has no linear root: give linear_root=False."),
        (root and not isinstance(loss, LogLoss | SquaredError),
         f"linear_root={root!r} needs loss='squared_error': give linear_root=False."),
        (grower in SIDE_BY_SIDE and (is_constrained or columns.categorical is not None),
         f"grower={grower!r} knows neither categories nor constraints: take 'hist'."),
    ):  # fmt: skip
        if is_wrong:
            raise ValueError(sentence)


def _shape(model, rows, grower):
    """The shape that was asked for; None where nothing was."""
    asked = model.n_trees, model.max_leaves, model.learning_rate, model.min_samples_leaf
    if grower in SIDE_BY_SIDE:
        n_trees = 1 if grower == "tree" else 20 if model.n_trees == "auto" else model.n_trees
        leaves = None if model.max_leaves == "auto" else model.max_leaves
        least = 1 if model.min_samples_leaf == "auto" else model.min_samples_leaf
        return Shape(n_trees, leaves, 1.0, least, max_features=_max_features(model))
    if grower is not None and not isinstance(grower, str):
        return Shape(1, 0, 1.0)  # it is grown
    if asked == ("auto",) * 4:
        return None
    leaves, n_trees = model.max_leaves, model.n_trees
    is_few = n_trees != "auto" and n_trees <= 30 and rows.X.shape[0] >= 50_000
    if leaves == "auto":
        leaves = 4095 if is_few else 31
    if n_trees == "auto":
        n_trees = _FEW_TREES if leaves > _FEW_LEAVES else _MANY_TREES
    rate = min(1.0, 1.9 / np.sqrt(n_trees), 10.0 / n_trees)
    rate = rate if model.learning_rate == "auto" else model.learning_rate
    least = 5 if leaves <= 8 else 20
    least = least if model.min_samples_leaf == "auto" else model.min_samples_leaf
    share = _max_features(model)
    return Shape(n_trees, leaves, float(rate), least, max_features=1.0 if share is None else share)


def _max_features(model):
    return None if model.max_features == "auto" else float(model.max_features)


def _own_pairs(pairs, n_features):
    wrong = ValueError("pairs must have i, j, a and b in each row: two columns, two numbers.")
    try:
        found = np.asarray(pairs, dtype=np.float64)
    except (TypeError, ValueError):
        raise wrong from None
    found = found if found.size else np.empty((0, 4))
    is_table = found.ndim == 2 and found.shape[1] == 4 and np.isfinite(found).all()
    if not is_table or np.any(found[:, :2] != np.floor(found[:, :2])):
        raise wrong
    columns = found[:, :2]
    if np.any((columns < 0) | (columns >= n_features)):
        raise ValueError(f"pairs names a column beyond the {n_features} of X.")
    return PairColumns(columns.astype(np.int32), found[:, 2:].astype(np.float32))


def _columns_of(model, rows):
    n_features = rows.X.shape[1]
    names = rows.names.get("feature_names_in_")
    categorical = _which(model.categorical_features, n_features, names)
    if categorical is not None:
        _require_categories(rows.X, categorical)
    return Columns(
        PairColumns.none(),
        categorical,
        signs_of(model.monotonic_cst, n_features, names),
        _groups_of(model.interaction_cst, n_features),
    )


def _groups_of(given, n_features):
    """Sets of columns; None where all may stand on one path."""
    if given is None:
        return None
    are_groups = all(isinstance(group, Collection) for group in given)
    if are_groups and all(column in range(n_features) for group in given for column in group):
        return [set(group) for group in given]
    raise ValueError(
        f"interaction_cst={given!r}: give a list of groups, each a list of columns from 0 to "
        f"{n_features - 1}."
    )


def _which(given, n_features, names):
    """Columns as a mask; None of none."""
    if given is None:
        return None
    given = np.asarray(given)
    if given.dtype == bool:
        if given.shape != (n_features,):
            raise ValueError(
                f"categorical_features has the shape {given.shape}, but X has {n_features} columns."
            )
        mask = given
    else:
        mask = np.zeros(n_features, dtype=bool)
        for one in given.ravel().tolist():
            mask[_place(one, n_features, names, "categorical_features")] = True
    return mask if mask.any() else None


def _place(one, n_features, names, parameter):
    if isinstance(one, str):
        found = [] if names is None else np.flatnonzero(names == one)
        if len(found) == 1:
            return found[0]
    elif one in range(n_features):
        return int(one)
    raise ValueError(f"{parameter} names the column {one!r}, which X has not.")


def signs_of(given, n_features, names):
    if given is None:
        return None
    if isinstance(given, dict):
        signs = np.zeros(n_features, dtype=int)
        for one, sign in given.items():
            signs[_place(one, n_features, names, "monotonic_cst")] = sign
    else:
        signs = np.asarray(given)
    if signs.shape != (n_features,) or not np.isin(signs, (-1, 0, 1)).all():
        raise ValueError(f"monotonic_cst must have −1, 0 or 1 for each of {n_features} columns.")
    return signs.astype(int) if signs.any() else None


def _require_categories(X, categorical):
    for column in np.flatnonzero(categorical):
        values = X[:, column]
        values = values[~np.isnan(values)]
        if np.any((values < 0) | (values >= 255) | (values != np.floor(values))):
            raise ValueError(
                f"Column {column} is named in categorical_features and has values that are no "
                "categories 0, 1, … 254: put an OrdinalEncoder before the model."
            )
