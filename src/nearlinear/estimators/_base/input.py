"""From what users pass to rows: checked, weighted, merged, and nothing of the model changed."""

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_matrix, hstack, issparse
from sklearn.base import ClassifierMixin
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.validation import check_is_fitted, validate_data

from ...gpu.device import as_array
from ...runtime.columns.readings import require_values
from ...streams.blocks import is_source
from .checks import require_moderate, require_sound
from .rows import TrainingRows
from .task import Regression, classes_in, classes_of_stream, labels_in, row_weights
from .values.units import TargetUnits


def fit_rows(model, X, y, sample_weight=None, gating=None):
    """Training rows of ``fit``, in canonical form. A second matrix joins them as last columns."""
    takes_several = getattr(model, "_takes_several_answers", False)
    X, y, names = _checked_pairs(model, X, y, is_first=True, takes_several=takes_several)
    n_features = X.shape[1]
    if hasattr(model, "gating_features"):
        X, names = _with_gating(model, X, gating, names)
    if not isinstance(model, ClassifierMixin):
        # who reads all rows as float32 does not round values for that
        dtype = np.float64 if hasattr(model, "_row_types") else X.dtype
        return _rows_of_values(X, y, dtype, sample_weight, names, X.shape[1] - n_features)
    if y.ndim == 2:
        task, targets, weight = labels_in(model, X, y, sample_weight)
        return _several(X, targets, weight, names, task)
    task, labels, weight = classes_in(model, X, y, sample_weight)
    # labels stand in for the targets, of which there is a column for each class
    rows = TrainingRows(X, labels, labels, weight, X.shape[0], task, names, X.shape[1] - n_features)
    rows = rows.merged()
    return replace(rows, targets=task.targets(rows.labels, X.dtype))


def stream_rows(model, X, y, sample_weight=None, classes=None):
    """Rows of ``partial_fit`` in their given order; ``merged`` gives their canonical form."""
    X, y, sample_weight = map(as_array, (X, y, sample_weight))
    is_first = not hasattr(model, "predictor_")
    X, y, names = _checked_pairs(model, X, y, is_first)
    if not isinstance(model, ClassifierMixin):
        labels, weight = np.zeros(len(y), dtype=np.intp), row_weights(X, sample_weight)
        return TrainingRows(
            X, labels, y[:, None], weight, X.shape[0], Regression(TargetUnits()), names
        )
    task, labels, weight = classes_of_stream(model, X, y, classes, sample_weight)
    targets = task.targets(labels, X.dtype)
    return TrainingRows(X, labels, targets, weight, X.shape[0], task, names)


def block_pairs(model, X, y, first=None):
    """Rows of a block, their labels or values, and what names the columns.

    ``first`` begins with that of the first block and the precision of its rows.
    """
    if first is None:
        return _checked_pairs(model, X, y, is_first=True)
    probe = _without_learned(model)
    vars(probe).update(first[0])
    if not isinstance(model, ClassifierMixin):
        require_values(y)
    X, y = _validated(probe, X, y, dtype=first[1], reset=False)
    return X, y, first[0]


def _several(X, targets, weight, names, task):
    """Rows of several answers each."""
    labels = np.zeros(X.shape[0], dtype=np.intp)
    numbers = np.unique(targets, axis=0, return_inverse=True)[1].ravel()
    return TrainingRows(X, labels, targets, weight, X.shape[0], task, names).merged(numbers)


def _rows_of_values(X, y, dtype, sample_weight, names, n_gating=0):
    if y.ndim == 2:
        weight = row_weights(X, sample_weight)
        return _several(X, y.astype(dtype), weight, names, Regression(TargetUnits()))
    labels, weight = np.zeros(len(y), dtype=np.intp), row_weights(X, sample_weight)
    targets, numbers = y[:, None].astype(dtype), np.unique(y, return_inverse=True)[1]
    rows = TrainingRows(X, labels, targets, weight, X.shape[0], None, names, n_gating)
    rows = rows.merged(numbers)
    return replace(rows, task=Regression(TargetUnits.of_values(rows.targets[:, 0], rows.weight)))


def scored_rows(model, X, gating=None):
    """Rows as ``predictor_`` takes them."""
    check_is_fitted(model, "predictor_")
    dtype = model.predictor_.dtype
    if model._steps:
        _require_as_many_columns(model, X)
        for step in model._steps:
            X = step.transform(X)
        return _canonical(check_array(X, accept_sparse="csr", dtype=dtype, order="C"))
    if model._is_precomputed:
        X = _as_stack(validate_data(model, X, dtype=dtype, allow_nd=True, reset=False))
        if X.shape[2] != len(model.kernels_):
            raise ValueError(
                f"X is a stack of {X.shape[2]} kernels, but {type(model).__name__} was fitted to "
                f"{len(model.kernels_)}: give an array of shape (n_rows, {X.shape[1]}, "
                f"{len(model.kernels_)})."
            )
        return X
    require_sound(X)
    form = "csr" if model._takes_sparse or getattr(model, "_scores_sparse", False) else False
    X = validate_data(
        model, X, accept_sparse=form, dtype=dtype, order="C", reset=False,
        ensure_all_finite=_finite_for(model),
    )  # fmt: skip
    X, wanted = _canonical(X), getattr(model, "n_gating_features_", 0)
    if (gating is None) != (wanted == 0):
        has, gets = ("a", "no") if gating is None else ("no", "a")
        raise ValueError(
            f"{type(model).__name__} was fitted with {has} second matrix and is given {gets} "
            "gating= to predict from."
        )
    return X if gating is None else _joined(model, X, gating, wanted)


def _require_as_many_columns(model, X):
    """Before an encoder says so in its own name; where both have names, it compares these."""
    both_named = hasattr(X, "columns") and hasattr(model, "feature_names_in_")
    wanted = getattr(model, "n_features_in_", None)
    if wanted is None or both_named or len(getattr(X, "shape", ())) != 2:
        return
    if X.shape[1] != wanted:
        raise ValueError(
            f"X has {X.shape[1]} features, but {type(model).__name__} is expecting {wanted} "
            "features as input."
        )


def _checked_pairs(model, X, y, is_first, takes_several=False):
    """Rows, labels or values, and attributes that name the columns."""
    if y is None and is_source(X):
        raise ValueError(
            f"{type(model).__name__} cannot be fitted to a chunked data source: pass arrays, or "
            "use LDKL, LLC-SAPL or LocalForest, which accept one."
        )
    probe = _without_learned(model)
    if not is_first:
        if model._training.is_from_file and not getattr(model, "_goes_on_from_file", False):
            raise ValueError(
                f"This {type(model).__name__} comes from a file, which has what prediction needs "
                "and no more: fit it anew to learn on."
            )
        probe = model
    row_types = getattr(model, "_row_types", [np.float64, np.float32])
    dtype = row_types if is_first else model.predictor_.dtype
    checks = {"dtype": dtype, "reset": is_first}
    if not isinstance(model, ClassifierMixin):
        require_values(y)
    if model._is_precomputed:
        checks["y_numeric"] = not isinstance(model, ClassifierMixin)
        X, y = validate_data(probe, X, y, allow_nd=True, **checks)
        X = _as_stack(X)
        if X.shape[0] != X.shape[1]:
            raise ValueError(
                f"A precomputed stack of kernels must have as many columns as rows in fit; it has "
                f"shape {X.shape}: give an array of shape (n_rows, n_rows, n_kernels)."
            )
    else:
        checks["multi_output"] = takes_several and _has_columns(y)
        X, y = _validated(probe, X, y, **checks)
    names = ("n_features_in_", "feature_names_in_")
    return X, y, {name: vars(probe)[name] for name in names if name in vars(probe)}


def _without_learned(model):
    """A model without what it has learned, which takes the attributes that checks set."""
    probe = object.__new__(type(model))
    vars(probe).update(model.get_params(deep=False))
    return probe


def _validated(model, X, y, **checks):
    require_sound(X)
    X, y = validate_data(
        model, X, y, accept_sparse="csr" if model._takes_sparse else False, order="C",
        y_numeric=not isinstance(model, ClassifierMixin), ensure_all_finite=_finite_for(model),
        **checks,
    )  # fmt: skip
    y = y.toarray() if issparse(y) else y
    require_moderate(X)
    return _canonical(X), y


def _finite_for(model):
    """What rows may hold: a method that knows where missing values go takes NaN."""
    return "allow-nan" if getattr(model, "_takes_missing", False) else True


def _has_columns(y):
    """Whether answers are a matrix of several columns."""
    try:
        shape = y.shape if hasattr(y, "shape") else np.asarray(y).shape
    except ValueError:  # lists of several lengths
        return False
    return len(shape) == 2 and shape[1] > 1


def _canonical(X):
    """CSR rows in which no entry stands twice; the user's matrix is left as it is."""
    if issparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def _as_stack(X):
    return X[:, :, None] if X.ndim == 2 else X


def _with_gating(model, X, gating, names):
    """Rows with what only the gate sees, and how many columns that is."""
    if gating is None:
        return X, {**names, "n_gating_features_": 0}
    if model.gating_features is not None:
        raise ValueError(
            f"{type(model).__name__} got both gating_features and a matrix gating=; give one."
        )
    joined = _joined(model, X, gating, None)
    return joined, {**names, "n_gating_features_": joined.shape[1] - X.shape[1]}


def _joined(model, X, gating, wanted):
    gating = check_array(
        gating, accept_sparse="csr", dtype=X.dtype, input_name="gating", estimator=model
    )
    check_consistent_length(X, gating)
    if wanted is not None and gating.shape[1] != wanted:
        raise ValueError(
            f"gating has {gating.shape[1]} features, but {type(model).__name__} was fitted with "
            f"{wanted}."
        )
    if issparse(X):
        return hstack([X, csr_matrix(gating)], format="csr")
    return np.hstack([X, gating.toarray() if issparse(gating) else gating])
