"""scikit-learn's transformers as a ``Preparation``: what each makes of columns that came so far."""

from dataclasses import replace

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    QuantileTransformer,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
    TargetEncoder,
)
from sklearn.utils.validation import check_is_fitted

from .bends import bins, quantiles
from .chosen_columns import column_numbers
from .columns import (
    MixedColumns,
    NoPreparation,
    are_nan,
    begins_anew,
    begun_anew,
    is_nan,
    joined,
    raw_columns,
)
from .encoders import one_hot, ordinal, target_means
from .pieces import MOST_KNOTS, piece_columns, plain_pieces, trial_rows


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
    columns, known = raw_columns(n_raw), []
    for step in steps:
        columns = columns_after(step, columns, known)
    if n_features not in (None, len(columns)):
        raise NoPreparation(
            f"The steps make {len(columns)} features, and the model was fitted to {n_features}."
        )
    return columns.table(n_raw, known)


def register_step(kind, rule):
    """Make a class of transformers known: ``rule(step, columns, known)`` gives its columns."""
    _RULES[kind] = rule


def _require_known(step):
    # what is derived from these may do something else
    if type(step) not in _RULES:
        raise NoPreparation(
            f"{type(step).__name__} has no place before an exported model: take scikit-learn's "
            "scalers, imputers, encoders, quantiles, bins, PCA or pieces, or nearlinear's steps."
        )


def columns_after(step, columns, known):
    """What a step makes of columns; ``known`` gets the categories that it insists on."""
    _require_known(step)
    found = _RULES[type(step)](step, columns, known)
    if found is None:
        raise NoPreparation(
            f"{type(step).__name__}(clip=True) behind principal components has no place before an "
            "exported model: leave out clip."
        )
    return found


# --- scalers ------------------------------------------------------------------------------------


def _standard(scaler, columns, known):
    # a scaler that does not take off the mean may have learned one all the same
    mean = scaler.mean_ if scaler.with_mean else None
    return columns.moved(mean, scaler.scale_ if scaler.with_std else None)


def _robust(scaler, columns, known):
    center = scaler.center_ if scaler.with_centering else None
    return columns.moved(center, scaler.scale_ if scaler.with_scaling else None)


def _largest(scaler, columns, known):
    ends = (-1.0, 1.0) if getattr(scaler, "clip", False) else ()
    return columns.moved(None, scaler.scale_, *ends)


def _between(scaler, columns, known):
    first = scaler.data_min_ - scaler.feature_range[0] / scaler.scale_
    ends = map(float, scaler.feature_range) if scaler.clip else ()
    return columns.moved(first, 1.0 / scaler.scale_, *ends)


# --- mixed columns ------------------------------------------------------------------------------


def _components(pca, columns, known):
    matrix = pca.components_.astype(np.float64)
    if pca.whiten:
        spread = np.sqrt(pca.explained_variance_.astype(np.float64))
        least = np.finfo(pca.explained_variance_.dtype).eps
        matrix = matrix / np.maximum(spread, least)[:, None]
    return columns.mixed(matrix, -matrix @ pca.mean_.astype(np.float64))


def _directions(svd, columns, known):
    matrix = svd.components_.astype(np.float64)
    return columns.mixed(matrix, np.zeros(len(matrix)))


# --- pieces -------------------------------------------------------------------------------------


def _pieces(spline, columns, known):
    if spline.degree != 1 or spline.extrapolation in ("error", "periodic"):
        raise NoPreparation(
            f"SplineTransformer(degree={spline.degree}, extrapolation={spline.extrapolation!r}) "
            "has no place before an exported model: take degree=1 and extrapolation='constant'."
        )
    if len(spline.bsplines_[0].t) > MOST_KNOTS + 2:
        raise NoPreparation(
            f"SplineTransformer with more than {MOST_KNOTS} knots has no place before an exported "
            "model: take a smaller n_knots."
        )
    if not columns.are_lines:
        columns = begun_anew(columns)
    made, rows = piece_columns(spline), trial_rows(spline)
    wanted = plain_pieces(spline, rows)
    if not np.allclose(made.table(rows.shape[1], ())(rows), wanted, rtol=1e-6, atol=1e-6):
        raise NoPreparation(
            f"SplineTransformer(extrapolation={spline.extrapolation!r}) does not continue its "
            "lines beyond all of these knots: take extrapolation='constant'."
        )
    return made.of(columns, _pieces_of_fill(spline, columns.fill, made))


def _pieces_of_fill(spline, fill, made):
    """What a missing value becomes, where a value stands for it."""
    fill = fill.astype(np.float64)
    row = np.where(np.isnan(fill), [one.t[1] for one in spline.bsplines_], fill)
    found = plain_pieces(spline, row[None])[0]
    return np.where(np.isnan(fill)[made.source], made.fill.astype(np.float64), found)


# --- missing values -----------------------------------------------------------------------------


def _imputed(imputer, columns, known):
    if not is_nan(imputer.missing_values):
        raise NoPreparation(
            f"SimpleImputer(missing_values={imputer.missing_values!r}) has no place before an "
            "exported model, where NaN alone is missing: turn these values into NaN."
        )
    if isinstance(columns, MixedColumns):
        raise NoPreparation("SimpleImputer behind principal components: let it come first.")
    stands, is_open = imputer.statistics_, are_nan(columns.fill)
    kept = np.flatnonzero(imputer.keep_empty_features | ~are_nan(stands))
    found = replace(columns, fill=np.where(is_open, stands, columns.fill)).pick(kept)
    if not imputer.add_indicator:
        return found
    marked = imputer.indicator_.features_
    likes = np.asarray(stands, dtype=object)[marked]
    return joined([found, columns.pick(marked).marks(is_open[marked], likes)])


def _marked(indicator, columns, known):
    """Whether numbers or dates are missing."""
    if not is_nan(indicator.missing_values) or isinstance(columns, MixedColumns):
        raise NoPreparation(
            "MissingIndicator has a place before an exported model as a first step, and for NaN."
        )
    found = columns.pick(indicator.features_)
    zeros = np.zeros(len(found))
    return replace(found, fill=are_nan(found.fill).astype(np.float64), low=zeros, high=zeros)


# --- steps in steps -----------------------------------------------------------------------------


def _chained(pipeline, columns, known):
    for _, step in pipeline.steps:
        if step is not None and step != "passthrough":
            columns = columns_after(step, columns, known)
    return columns


def _side_by_side(transformer, columns, known):
    if transformer.transformer_weights:
        raise NoPreparation("ColumnTransformer with transformer_weights: leave them out.")
    found = _beside(transformer, columns, known)
    if isinstance(columns, MixedColumns) and any(begins_anew(part) for part in found):
        found = _beside(
            transformer, begun_anew(columns), known
        )  # so that all share what was before
    return joined(found)


def _beside(transformer, columns, known):
    found = []
    for _, step, chosen in transformer.transformers_:
        picked = columns.pick(column_numbers(transformer, chosen))
        if step == "drop" or not len(picked):
            continue
        found.append(picked if step == "passthrough" else columns_after(step, picked, known))
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
    PCA: _components,
    TruncatedSVD: _directions,
    SimpleImputer: _imputed,
    MissingIndicator: _marked,
    OneHotEncoder: one_hot,
    OrdinalEncoder: ordinal,
    TargetEncoder: target_means,
    QuantileTransformer: quantiles,
    KBinsDiscretizer: bins,
    SplineTransformer: _pieces,
    ColumnTransformer: _side_by_side,
    FunctionTransformer: _unchanged,
    Pipeline: _chained,
}
