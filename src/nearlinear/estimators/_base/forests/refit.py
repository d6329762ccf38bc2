"""Refit of the leaves of a fitted forest on further rows.

Minimizes over the leaf values, with the present ones w₀ and all else as it is,

    Σ_i weight_i loss(y_i, f(x_i)) + ½ λ Σ ‖w − w₀‖².

λ counts rows. A forest of shares (random forests) is first written as one of scores: its shares,
times the steepness that is best for the rows.
"""

import numbers
from dataclasses import dataclass, replace

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ...._compile import one_blas_thread
from ....losses import PoissonLoss
from ....predictors.combined import Exponential
from ....predictors.forest import Forest
from ....runtime import outcome
from ....solvers.forests.refit import refit_memory, scores_of
from ..capacity import about_best
from ..checks import require_memory
from ..input import stream_rows
from ..model import Learned
from .grown import GrownForest
from .parts import refit_along
from .taken import in_scores, shares_of, steepness_of
from .trials import LAMBDAS
from .wishes import signs_of

_USUAL_PENALTY = 10.0
_HELD_OUT = 0.2


@dataclass(frozen=True)
class Refit:
    """A forest before its leaves move, and what they are to minimize."""

    forest: Forest
    loss: object
    monotonic: np.ndarray | None
    n_jobs: int | None

    def along(self, rows, lams, max_passes):
        """Solutions for one λ after another; slopes and root stay, as part of the base."""
        forest = self.forest
        base = self.scores(rows.X, np.zeros_like(forest.values))
        return refit_along(
            _grown(forest), base, rows, self.loss, lams, monotonic=self.monotonic,
            n_jobs=self.n_jobs, max_passes=max_passes,
        )  # fmt: skip

    def losses(self, held, values):
        """Of held-out rows, with other leaf values."""
        return self.loss.value(self.scores(held.X, values), held.targets)

    def scores(self, X, values=None):
        """In float64, as the forest stands or with other leaf values."""
        forest, values = self.forest, self.forest.values if values is None else values
        Z = forest.seen_by_slopes(X) if forest.slopes.shape[2] else None
        return scores_of(
            forest.gate(X, self.n_jobs), forest.gate.leaf_starts, values, forest.slopes,
            forest.outputs, Z, forest.before_trees(X),
        )  # fmt: skip


def refit(model, X, y, sample_weight, penalty):
    """A ``Learned`` whose leaves are better on these rows."""
    check_is_fitted(model, "predictor_")
    is_number = isinstance(penalty, numbers.Real) and penalty > 0
    if penalty not in (None, "auto") and not is_number:
        raise ValueError(f"leaf_penalty={penalty!r} must be a number above 0, None or 'auto'.")
    rows = _canonical(stream_rows(model, X, y, sample_weight))
    with one_blas_thread():
        return _learn_leaves(model, rows, penalty, check_random_state(model.random_state))


def move_leaves(model, rows):
    """A ``Learned`` whose leaves have moved with rows of a stream."""
    is_number = isinstance(model.leaf_penalty, numbers.Real)
    return _learn_leaves(
        model, _canonical(rows), model.leaf_penalty if is_number else _USUAL_PENALTY
    )


def first_of_stream(rows):
    """The rows that grow the trees."""
    classes = rows.attributes.get("classes_", ())
    absent = np.setdiff1d(np.arange(len(classes)), rows.labels)
    if len(absent):
        raise ValueError(
            "The first call of partial_fit grows the trees, and has no row of the class "
            f"{classes.tolist()[absent[0]]!r}: give it rows of every class."
        )
    return _canonical(rows)


def _canonical(rows):
    if "classes_" in rows.attributes:
        return rows.merged()
    return rows.merged(np.unique(rows.targets[:, 0], return_inverse=True)[1])


def _learn_leaves(model, rows, penalty, rng=None):
    loss = PoissonLoss() if isinstance(model.predictor_, Exponential) else model._loss
    if rows.targets.shape[1] != model.predictor_.n_outputs:
        raise ValueError(
            f"This forest gives {model.predictor_.n_outputs} values a row: leaves are refitted for "
            "one alone."
        )
    require_counts(rows, loss)
    forest = _of_log_loss(model, rows)
    size = refit_memory(len(rows.X), forest.gate.n_trees, rows.targets.shape[1], 0)
    require_memory(size, "give fewer rows")
    signs = signs_of(model.monotonic_cst, forest.n_features, vars(model).get("feature_names_in_"))
    start = Refit(forest, loss, signs, model.n_jobs)
    if penalty == "auto":
        penalty = _chosen_penalty(model, start, rows, rng)
    if penalty is None:
        return Learned(model.predictor_, _learned_attributes(model))
    found = next(start.along(rows, [penalty], max_passes=8))
    attributes = _learned_attributes(model)
    attributes["refit_gap_"] = found.relative_gap
    attributes["plan_"] = {**attributes.get("plan_", {}), "leaf_penalty": float(penalty)}
    if "calibration_" in attributes:
        attributes["calibration_"] = outcome.LogLoss()
    forest = _with_values(forest, found.values)
    is_log = isinstance(model.predictor_, Exponential)
    return Learned(Exponential(forest) if is_log else forest, attributes)


def _grown(forest):
    return GrownForest(forest.gate, forest.values, forest.outputs, forest.covers, forest.intercept)


def _learned_attributes(model):
    """What a fit has left beside the predictor and what rows say of their columns."""
    names = ("plan_", "settings_tried_", "pairs_", "refit_gap_", "calibration_")
    return {name: vars(model)[name] for name in names if name in vars(model)}


def _with_values(forest, values):
    return replace(forest, values=np.ascontiguousarray(values, dtype=forest.dtype))


def require_counts(rows, loss):
    if isinstance(loss, PoissonLoss) and (rows.targets.min() < 0 or not rows.targets.any()):
        raise ValueError("loss='poisson' needs counts: y is below 0 somewhere, or 0 everywhere.")


def _of_log_loss(model, rows):
    """The forest of a model, with scores that are logarithms of odds if it tells classes."""
    forest = getattr(model.predictor_, "predictor", model.predictor_)  # inside an Exponential
    calibration = getattr(model, "calibration_", None)
    if isinstance(calibration, outcome.Shares):
        grown = _grown(forest)
        steepness = steepness_of(shares_of(grown, rows.X), rows.labels, rows.weight)
        found = in_scores(grown, steepness)
        return _with_values(replace(forest, intercept=found.intercept), found.values)
    if isinstance(calibration, outcome.Sigmoids):
        steepness = -float(calibration.slopes[0])
        intercept = (steepness * forest.intercept).astype(forest.dtype)
        return _with_values(replace(forest, intercept=intercept), steepness * forest.values)
    return forest


def _chosen_penalty(model, start, rows, rng):
    """λ of about the lowest held-out loss, the largest of such; None leaves the model as it is."""
    train, held = rows.split(_HELD_OUT, rng)
    if held is None:
        return _USUAL_PENALTY
    losses, lowest, waited = {}, np.inf, 0
    for lam, found in zip(LAMBDAS, start.along(train, LAMBDAS, max_passes=4), strict=True):
        losses[lam] = start.losses(held, found.values)
        if np.isinf(lam) and isinstance(getattr(model, "calibration_", None), outcome.Shares):
            losses[lam] = _losses_of_shares(model, held)
        mean = np.average(losses[lam], weights=held.weight)
        waited = 0 if mean < lowest else waited + 1
        lowest = min(lowest, mean)
        if waited == 2:
            break
    best = about_best(losses, held.weight)
    return None if np.isinf(best) else best


def _losses_of_shares(model, held):
    """The log loss of shares among the trees and one tree more, which knows nothing."""
    shares = model.calibration_(model.predictor_(held.X).astype(np.float64))
    n_trees, n_classes = model.predictor_.gate.n_trees, shares.shape[1]
    told = np.take_along_axis(shares, held.labels[:, None], axis=1)[:, 0]
    return -np.log((n_trees * told + 1.0 / n_classes) / (n_trees + 1.0))
