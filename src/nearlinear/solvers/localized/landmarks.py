"""Success regressed on few rows: an ε-insensitive machine in the span of a kernel at landmarks.

Minimizes ½ cᵀ K_ZZ c + C Σ_i w_i max(0, |t_i − g(x_i)| − ε) over g(x) = Σ_j c_j k(z_j, x) + b. The
z_j are q of the n rows. Features that make the penalty ½‖θ‖² are stored: memory is O(n q), and time
O(n q²) for a step at most. With all rows as landmarks this is the machine on all rows.

Kinks of the loss are rounded, more and more sharply, so that Newton's steps apply. Where such a
step misleads, the losses are bounded by parabolas from above, which always leads down. What the
rounding costs is in the gap.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

_BLOCK = 1024  # rows of which kernel values, or copies of features, are held at once
# Directions shorter than this share of the longest would need coefficients that float32 rounds off.
_SHORTEST = 1e-5
# Widths of the rounding in the unit of success, and Newton steps for each.
_WIDTHS, _MOST_STEPS = (0.3, 0.1, 0.03, 0.01), 30
_ENOUGH = 1e-5  # a smaller relative decrease ends the steps
_LENGTHS = (1.0, 0.5, 0.25, 0.1)


@dataclass(frozen=True)
class LandmarkRegression:
    """g as a machine of all rows: ``dual_coef`` is zero but at the landmarks; slack is t − Kc.

    ``objective`` is at most ``gap`` above the least one for these landmarks.
    """

    dual_coef: np.ndarray
    bias: float
    slack: np.ndarray
    objective: float
    gap: float


def landmark_bytes(n_rows, count):
    """Features of all rows, blocks of them, and matrices among landmarks."""
    return 8 * (count * (n_rows + 4 * count + 3 * _BLOCK) + 10 * n_rows)


def regress_on_landmarks(kernel, X, values, weight, *, C, epsilon, count):
    """``values`` regressed on the kernel at about ``count`` rows; ``weight`` multiplies C."""
    # evenly spaced: rows stand in the order of their hashes
    landmarks = np.arange(X.shape[0])[:: -(-X.shape[0] // count)]
    Z = X[landmarks]
    lengths, directions = np.linalg.eigh(kernel(Z, Z).astype(np.float64))
    kept = lengths > _SHORTEST * lengths[-1]
    whitening = directions[:, kept] / np.sqrt(lengths[kept])
    features = np.ones((X.shape[0], whitening.shape[1] + 1))  # the last one is for the bias
    for start in range(0, X.shape[0], _BLOCK):
        part = slice(start, start + _BLOCK)
        features[part, :-1] = kernel(X[part], Z).astype(np.float64) @ whitening
    model, objective, gap = fit_insensitive(features, values, C * weight, epsilon)
    coef = np.zeros(X.shape[0])
    coef[landmarks] = whitening @ model[:-1]
    slack = values - features[:, :-1] @ model[:-1]
    return LandmarkRegression(coef, float(model[-1]), slack, objective, gap)


def fit_insensitive(features, values, C, epsilon):
    """θ for ½‖θ‖² + Σ_i C_i max(0, |t_i − ⟨θ, z_i⟩| − ε), its value and its duality gap.

    The last feature is constant, and its weight free of penalty.
    """
    penalty = np.ones(features.shape[1])
    penalty[-1] = 0.0
    model = np.zeros(len(penalty))
    order = np.argsort(values, kind="stable")
    model[-1] = values[order][np.searchsorted(np.cumsum(C[order]), 0.5 * C.sum())]  # the median
    for width in _WIDTHS:
        now = _rounded(features, values, C, epsilon, width, penalty, model)
        for _ in range(_MOST_STEPS):
            before = now.value
            for bends in (now.bends, now.bounds):
                step = _newton_step(features, now.gradient, bends, penalty, C)
                model, now = _descend(
                    model, now, step, lambda trial, width=width: _rounded(
                        features, values, C, epsilon, width, penalty, trial
                    ),
                )  # fmt: skip
                if now.value < before:
                    break
            if before - now.value <= _ENOUGH * before:
                break
    residual = np.abs(values - features @ model)
    norm = 0.5 * float(model[:-1] @ model[:-1])
    objective = norm + float(C @ np.maximum(0.0, residual - epsilon))
    return model, objective, objective - _dual_value(features, values, C, epsilon, now.slopes)


class _Point(NamedTuple):
    """The rounded objective at a model, and what steps from there need.

    ``slopes`` and ``bends`` are the losses' own in the residuals, and ``bounds`` bend the parabolas
    that lie above them.
    """

    value: float
    gradient: np.ndarray
    slopes: np.ndarray
    bends: np.ndarray
    bounds: np.ndarray


def _rounded(features, values, C, epsilon, width, penalty, model):
    residual = values - features @ model
    beyond = np.maximum(0.0, np.abs(residual) - epsilon)
    inside = np.minimum(beyond, width)
    loss = inside * inside / (2.0 * width) + (beyond - inside)
    slopes = C * np.sign(residual) * (inside / width)
    bounds = C / np.maximum(beyond, width)
    return _Point(
        0.5 * float(penalty @ model**2) + float(C @ loss), penalty * model - slopes @ features,
        slopes, np.where((beyond > 0.0) & (beyond < width), bounds, 0.0), bounds,
    )  # fmt: skip


def _newton_step(features, gradient, bends, penalty, C):
    zone, matrix = np.flatnonzero(bends), np.diag(penalty)
    for start in range(0, len(zone), _BLOCK):
        part = zone[start : start + _BLOCK]
        matrix += (features[part].T * bends[part]) @ features[part]
    matrix[-1, -1] += 1e-9 * C.sum()  # for a zone without rows
    return np.linalg.solve(matrix, gradient)


def _descend(model, now, step, evaluate):
    """Down a step, or a part of it; where no part helps, all stays."""
    for length in _LENGTHS:
        trial = model - length * step
        found = evaluate(trial)
        if found.value <= now.value - 0.1 * length * float(now.gradient @ step):
            return trial, found
    return model, now


def _dual_value(features, values, C, epsilon, dual_coef):
    """Of a vector in the box, balanced so that Σa = 0."""
    above, below = np.maximum(dual_coef, 0.0), np.maximum(-dual_coef, 0.0)
    total = min(above.sum(), below.sum())
    above *= total / max(above.sum(), 1e-300)
    below *= total / max(below.sum(), 1e-300)
    sums = (above - below) @ features[:, :-1]
    return float(values @ (above - below) - epsilon * (above + below).sum() - 0.5 * sums @ sums)
