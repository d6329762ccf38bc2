"""Losses of a score matrix: value and slope; and how good scores are on held-out rows.

Targets of classes are a matrix of −1 and +1 with one column per output. Binary problems have one
column; several classes have one column each, of which exactly one entry per row is +1. Targets of
a regression are columns of numbers. Where a row has several labels, each has a column of −1 or +1.

Some losses have more. ``dual_box(C)`` gives u and r of max Σα − ½‖Σ α_i y_i z_i‖² − ½ Σ r_i α_i²,
0 ≤ α ≤ u, which is then the dual of a linear model. ``margin_slopes`` are p and q of the slope
p + q ξ at slack ξ = max(0, 1 − y f).
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Hinge:
    """Σ_c max(0, 1 − y_c f_c)."""

    margin_slopes = 1.0, 0.0

    def value(self, scores, targets):
        return np.maximum(0.0, 1.0 - targets * scores).sum(axis=1)

    def slope(self, scores, targets):
        return np.where(targets * scores < 1.0, -targets, 0.0).astype(scores.dtype, copy=False)

    def dual_box(self, C):
        return C, np.zeros_like(C)


@dataclass(frozen=True)
class SquaredHinge:
    """Σ_c max(0, 1 − y_c f_c)²."""

    margin_slopes = 0.0, 2.0

    def value(self, scores, targets):
        return (np.maximum(0.0, 1.0 - targets * scores) ** 2).sum(axis=1)

    def slope(self, scores, targets):
        return -2.0 * targets * np.maximum(0.0, 1.0 - targets * scores)

    def dual_box(self, C):
        return np.full_like(C, np.inf), 0.5 / C


@dataclass(frozen=True)
class LogLoss:
    """−log p(y | x): logistic for one column, softmax for several."""

    def value(self, scores, targets):
        if scores.shape[1] == 1:
            return np.logaddexp(0.0, -targets * scores)[:, 0]
        top = scores.max(axis=1, keepdims=True)
        log_sum = np.log(np.exp(scores - top).sum(axis=1)) + top[:, 0]
        return log_sum - scores[np.arange(len(scores)), targets.argmax(axis=1)]

    def slope(self, scores, targets):
        if scores.shape[1] == 1:
            # exp of a clipped argument: beyond ±60 the slope is 0 or 1 to the last digit
            return -targets / (1.0 + np.exp(np.clip(targets * scores, -60.0, 60.0)))
        return _softmax(scores) - (targets > 0)


@dataclass(frozen=True)
class LabelLogLoss:
    """Σ_c log(1 + exp(−y_c f_c)): the log loss of labels that are there or not, each on its own."""

    def value(self, scores, targets):
        return np.logaddexp(0.0, -targets * scores).sum(axis=1)

    def slope(self, scores, targets):
        return -targets / (1.0 + np.exp(np.clip(targets * scores, -60.0, 60.0)))


@dataclass(frozen=True)
class CrammerSinger:
    """max_c (f_c + [c ≠ y]) − f_y: by how much the best wrong class comes too close.

    For one column, with ±f/2 as the scores of the two classes, this is the hinge.
    """

    def value(self, scores, targets):
        if scores.shape[1] == 1:
            return LOSSES["hinge"].value(scores, targets)
        rows = np.arange(len(scores))
        margins = scores + (targets < 0)
        return margins.max(axis=1) - scores[rows, targets.argmax(axis=1)]

    def slope(self, scores, targets):
        if scores.shape[1] == 1:
            return LOSSES["hinge"].slope(scores, targets)
        rows = np.arange(len(scores))
        slopes = np.zeros_like(scores)
        slopes[rows, (scores + (targets < 0)).argmax(axis=1)] += 1.0
        slopes[rows, targets.argmax(axis=1)] -= 1.0
        return slopes


@dataclass(frozen=True)
class SquaredError:
    """½ (f − y)²."""

    def value(self, scores, targets):
        return 0.5 * ((scores - targets) ** 2).sum(axis=1)

    def slope(self, scores, targets):
        return scores - targets


@dataclass(frozen=True)
class EpsilonInsensitive:
    """max(0, |f − y| − ε)."""

    epsilon: float

    def value(self, scores, targets):
        return np.maximum(0.0, np.abs(scores - targets) - self.epsilon).sum(axis=1)

    def slope(self, scores, targets):
        error = scores - targets
        return np.where(np.abs(error) > self.epsilon, np.sign(error), 0.0).astype(
            scores.dtype, copy=False
        )


@dataclass(frozen=True)
class AbsoluteError:
    """|f − y|."""

    def value(self, scores, targets):
        return np.abs(scores - targets).sum(axis=1)

    def slope(self, scores, targets):
        return np.sign(scores - targets)


@dataclass(frozen=True)
class QuantileError:
    """max(τ (y − f), (τ − 1)(y − f)) for the level τ: least at the τ-quantile of y."""

    level: float

    def value(self, scores, targets):
        error = targets - scores
        return np.maximum(self.level * error, (self.level - 1.0) * error).sum(axis=1)

    def slope(self, scores, targets):
        error = targets - scores
        slopes = np.where(error > 0, -self.level, 1.0 - self.level)
        return np.where(error == 0, 0.0, slopes).astype(scores.dtype, copy=False)


@dataclass(frozen=True)
class PoissonLoss:
    """exp f − y f: minus the log likelihood of a count y ≥ 0 with mean exp f, up to a constant."""

    def value(self, scores, targets):
        return (np.exp(scores) - targets * scores).sum(axis=1)

    def slope(self, scores, targets):
        return np.exp(scores) - targets


def _softmax(scores):
    shifted = np.exp(scores - scores.max(axis=1, keepdims=True))
    return shifted / shifted.sum(axis=1, keepdims=True)


def accuracy(scores, targets, weight):
    """Weighted fraction of rows whose highest score is that of their class."""
    if scores.shape[1] == 1:
        right = (scores > 0) == (targets > 0)
        return float(np.average(right[:, 0], weights=weight))
    return float(np.average(scores.argmax(axis=1) == targets.argmax(axis=1), weights=weight))


def label_accuracy(scores, targets, weight):
    """Weighted fraction of labels that are right, of all labels of all rows."""
    return float(np.average(((scores > 0) == (targets > 0)).mean(axis=1), weights=weight))


def explained_variance(scores, targets, weight):
    """R²: one less the fraction of the variance that is left; the mean over several values."""
    pairs = zip(scores.T, targets.T, strict=True)
    found = [_explained(values, wanted, weight) for values, wanted in pairs]
    return float(np.mean(found)) if len(found) > 1 else found[0]


def _explained(values, targets, weight):
    left = np.average((values - targets) ** 2, weights=weight)
    mean = np.average(targets, weights=weight)
    spread = np.average((targets - mean) ** 2, weights=weight)
    return float(1.0 - left / spread) if spread > 0 else float(-left)


# Losses of classes, by name.
LOSSES = {
    "hinge": Hinge(),
    "squared_hinge": SquaredHinge(),
    "crammer_singer": CrammerSinger(),
    "log_loss": LogLoss(),
}
