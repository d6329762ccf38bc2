"""scikit-learn's transformers as a ``Preparation``: what each makes of columns that came so far."""

import math
from dataclasses import dataclass, replace

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    RobustScaler,
    StandardScaler,
)
from sklearn.utils.validation import check_is_fitted

from ..runtime.preparation import Preparation, is_category
from .chosen_columns import column_numbers

_LARGEST_WHOLE = 2**53  # whole numbers beyond it are no doubles


class NoPreparation(ValueError):
    """Steps that no table holds; the message says which and why."""


@dataclass(frozen=True)
class _Column:
    """One column on its way; ``fill`` is what stands for a missing value, NaN for itself."""

    source: int
    fill: object = math.nan
    category: object = None
    shift: float = 0.0
    scale: float = 1.0
    low: float = -math.inf
    high: float = math.inf

    @property
    def is_raw(self):
        return self == _Column(self.source, self.fill)

    def moved(self, shift, scale, low=-math.inf, high=math.inf):
        """Afterwards shifted, scaled and clipped: one shift, one scale and one clip again."""

        def after(value):
            return min(max((value - shift) / scale, low), high)

        fill = self.fill if _is_nan(self.fill) else after(self.fill)
        return replace(
            self, fill=fill, shift=self.shift + shift * self.scale, scale=self.scale * scale,
            low=after(self.low), high=after(self.high),
        )  # fmt: skip

    def mark(self, fill, like):
        """0 where there is a value, ``fill`` where there is none; ``like`` is such a value."""
        category = "" if isinstance(like, str) else None  # texts are compared, with any text
        return _Column(self.source, fill, category, low=0.0, high=0.0)


def preparation_of_steps(steps, n_features=None):
    """The table of fitted transformers, one after the other; None where there are none.

    ``n_features`` is how many columns the model behind them takes.
    """
    if not steps:
        return None
    for step in steps:
        _require_known(step)
        check_is_fitted(step)
    n_raw = steps[0].n_features_in_
    known = []
    columns = [_Column(source) for source in range(n_raw)]
    for step in steps:
        columns = _after(step, columns, known)
    if n_features not in (None, len(columns)):
        raise NoPreparation(
            f"The steps make {len(columns)} features, and the model was fitted to {n_features}."
        )
    return _table(n_raw, columns, known)


def preparation_of_numbers(steps, n_features=None):
    """The same for raw rows that are numbers: text is refused."""
    found = preparation_of_steps(steps, n_features)
    if found is not None and found.texts:
        raise NoPreparation(
            f"Column {found.texts[0]} holds text, and raw rows are numbers here: give the "
            "categories numbers before fitting."
        )
    return found


def _table(n_raw, columns, known):
    def array(name, none, dtype=np.float64):
        values = np.array([getattr(column, name) for column in columns], dtype=dtype)
        return (
            None if np.array_equal(values, np.full(len(values), none), equal_nan=True) else values
        )

    source = np.array([column.source for column in columns], dtype=np.int64)
    low, high = array("low", -math.inf), array("high", math.inf)
    is_clipped = low is not None or high is not None
    if is_clipped:
        low, high = (np.array([getattr(c, end) for c in columns]) for end in ("low", "high"))
    categories = tuple(column.category for column in columns)
    return Preparation(
        n_features=n_raw,
        source=None if np.array_equal(source, np.arange(n_raw)) else source,
        missing=array("fill", math.nan),
        shift=array("shift", 0.0),
        scale=array("scale", 1.0),
        low=low,
        high=high,
        categories=None if all(c is None for c in categories) else categories,
        known=tuple(known) or None,
    )


def _require_known(step):
    # what is derived from these may do something else
    if type(step) not in _RULES:
        known = ", ".join(sorted(kind.__name__ for kind in _RULES if kind is not Pipeline))
        raise NoPreparation(
            f"{type(step).__name__} has no place before an exported model: take steps of {known}."
        )


def _after(step, columns, known):
    _require_known(step)
    return _RULES[type(step)](step, columns, known)


# --- scalers ------------------------------------------------------------------------------------


def _scaled(columns, shift, scale, low=-math.inf, high=math.inf):
    shift = np.zeros(len(columns)) if shift is None else shift
    scale = np.ones(len(columns)) if scale is None else scale
    pairs = zip(columns, shift.tolist(), scale.tolist(), strict=True)
    return [column.moved(a, s, low, high) for column, a, s in pairs]


def _standard(scaler, columns, known):
    # a scaler that does not take off the mean may have learned one all the same
    mean = scaler.mean_ if scaler.with_mean else None
    return _scaled(columns, mean, scaler.scale_ if scaler.with_std else None)


def _robust(scaler, columns, known):
    center = scaler.center_ if scaler.with_centering else None
    return _scaled(columns, center, scaler.scale_ if scaler.with_scaling else None)


def _largest(scaler, columns, known):
    ends = (-1.0, 1.0) if getattr(scaler, "clip", False) else ()
    return _scaled(columns, None, scaler.scale_, *ends)


def _between(scaler, columns, known):
    first = scaler.data_min_ - scaler.feature_range[0] / scaler.scale_
    ends = map(float, scaler.feature_range) if scaler.clip else ()
    return _scaled(columns, first, 1.0 / scaler.scale_, *ends)


# --- missing values -----------------------------------------------------------------------------


def _imputed(imputer, columns, known):
    if not _is_nan(imputer.missing_values):
        raise NoPreparation(
            f"SimpleImputer(missing_values={imputer.missing_values!r}) has no place before an "
            "exported model, where NaN alone is missing: turn these values into NaN."
        )
    found = [
        replace(column, fill=fill) if _is_nan(column.fill) else column
        for column, fill in zip(columns, imputer.statistics_.tolist(), strict=True)
        if imputer.keep_empty_features or not _is_nan(fill)
    ]
    marked = imputer.indicator_.features_ if imputer.add_indicator else ()
    return found + [
        columns[d].mark(float(_is_nan(columns[d].fill)), imputer.statistics_[d]) for d in marked
    ]


def _is_nan(value):
    return isinstance(value, float) and math.isnan(value)


# --- categories ---------------------------------------------------------------------------------


def _encoded(encoder, columns, known):
    if not all(column.is_raw for column in columns):
        raise NoPreparation("OneHotEncoder behind a scaler or an encoder: let it come first.")
    may_group = encoder.min_frequency is not None or encoder.max_categories is not None
    if may_group and any(rare is not None for rare in encoder.infrequent_categories_):
        raise NoPreparation(
            "OneHotEncoder with infrequent categories has no place before an exported model: "
            "leave out min_frequency and max_categories."
        )
    dropped = [None] * len(columns) if encoder.drop_idx_ is None else encoder.drop_idx_
    is_strict, found = encoder.handle_unknown == "error", []
    for column, values, left_out in zip(columns, encoder.categories_, dropped, strict=True):
        values = [_category(value) for value in values.tolist()]
        fills = _fills(column.fill, values, is_strict)
        made = [
            column.mark(fill, values[0]) if _is_nan(value) else _Column(column.source, fill, value)
            for value, fill in zip(values, fills, strict=True)
        ]
        found += [one for place, one in enumerate(made) if place != left_out]
        if is_strict:
            known.append((column.source, tuple(v for v in values if not _is_nan(v))))
    return found


def _fills(fill, values, is_strict):
    """What a missing value becomes in the columns of these categories."""
    hits = [float(value == fill or (_is_nan(value) and _is_nan(fill))) for value in values]
    return [math.nan] * len(values) if is_strict and not any(hits) else hits


def _category(value):
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, str) or _is_nan(value):
        return value
    if not is_category(value) or abs(value) > _LARGEST_WHOLE:
        raise NoPreparation(
            f"The category {value!r} is neither a text nor a number: turn it into one."
        )
    return float(value)


# --- steps in steps -----------------------------------------------------------------------------


def _chained(pipeline, columns, known):
    for _, step in pipeline.steps:
        if step is not None and step != "passthrough":
            columns = _after(step, columns, known)
    return columns


def _side_by_side(transformer, columns, known):
    if transformer.transformer_weights:
        raise NoPreparation("ColumnTransformer with transformer_weights: leave them out.")
    found = []
    for _, step, chosen in transformer.transformers_:
        picked = [columns[d] for d in column_numbers(transformer, chosen)]
        if isinstance(step, str) or not picked:
            found += picked if step == "passthrough" else []
        else:
            found += _after(step, picked, known)
    return found


def _unchanged(transformer, columns, known):
    if transformer.func is not None:
        raise NoPreparation("FunctionTransformer runs code, which no table holds: leave it out.")
    return columns


_RULES = {
    StandardScaler: _standard,
    MinMaxScaler: _between,
    MaxAbsScaler: _largest,
    RobustScaler: _robust,
    SimpleImputer: _imputed,
    OneHotEncoder: _encoded,
    ColumnTransformer: _side_by_side,
    FunctionTransformer: _unchanged,
    Pipeline: _chained,
}
