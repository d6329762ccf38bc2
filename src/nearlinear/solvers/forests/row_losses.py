"""Losses along one output of the scores: slopes and curvatures of rows, compiled.

Scores and targets are (n_outputs, n_rows) here, so that one output is one stretch of memory. Each
class has the same five methods:

- ``begin(scores)`` before a pass over all trees: what is kept beside the scores is made anew.
- ``slopes(scores, output, part, g, h)``: of the rows in the slice ``part``, by this output alone.
- ``move(scores, output, part, moves)``: add to the scores.
- ``value(scores, part)``: the loss of rows, and how much more it is than its tangent of slope g
  through the conjugate; that is 0 for smooth losses.
- ``smooth_value(scores, part)``: the loss that has the slopes, with corners rounded off.

``grows`` says what h bounds. If it is False, ½ h δ² is above what the loss curves up at any move δ.
If it is True, h (exp|δ| − |δ| − 1) is: the third derivative is never above the second. That holds
for exp f, for the logistic loss, and for one score of a softmax: p(1 − p)(1 − 2p) ≤ p(1 − p).
``sees_differences``: the loss does not change if all scores of a row do by the same amount.
``is_rounded``: the slopes are those of a loss whose corner is rounded off; ``sharpen()`` does so
more narrowly.
"""

from dataclasses import dataclass

import numpy as np

from ... import losses
from ..._compile import compiled


def row_loss(loss, scores, targets, weight, width=None):
    """The rows' loss by the class in ``losses.py``; arrays as described above.

    ``width`` is that of a corner; None stands for the mean error of the scores.
    """
    if width is None and isinstance(loss, losses.AbsoluteError | losses.QuantileError):
        width = _spread(scores, targets, weight)
    if isinstance(loss, losses.LogLoss) and len(targets) > 1:
        return SoftmaxRows(targets, weight, np.empty(len(weight)))
    if isinstance(loss, losses.AbsoluteError):
        return PinballRows(targets, weight, 1.0, 1.0, width)
    if isinstance(loss, losses.QuantileError):
        return PinballRows(targets, weight, 1.0 - loss.level, loss.level, width)
    if type(loss) not in _SEPARABLE:
        known = ", ".join(sorted(kind.__name__ for kind in _SEPARABLE))
        raise TypeError(
            f"Leaves are refitted for {known}, AbsoluteError and QuantileError, not for "
            f"{type(loss).__name__}."
        )
    return SeparableRows(targets, weight, *_SEPARABLE[type(loss)])


def typical_curvature(loss, scores, targets, weight):
    """By what a λ that counts rows is multiplied, so that it means the same in any units.

    It is 1 for squared errors and log losses, the mean count for ``PoissonLoss``, and one over the
    mean error of ``scores`` for absolute and quantile errors; scores are (n_rows, n_outputs).
    """
    if isinstance(loss, losses.PoissonLoss):
        return float(np.average(np.mean(targets, axis=1), weights=weight))
    if isinstance(loss, losses.AbsoluteError | losses.QuantileError):
        return 1.0 / _spread(np.transpose(scores), np.transpose(targets), weight)
    return 1.0


def _spread(scores, targets, weight):
    spread = float(np.average(np.abs(targets - scores).mean(axis=0), weights=weight))
    return max(spread, np.finfo(float).tiny)


@dataclass(frozen=True)
class SeparableRows:
    """Losses that are sums over outputs."""

    targets: np.ndarray
    weight: np.ndarray
    slopes_of: object
    value_of: object
    grows: bool
    sees_differences = False
    is_rounded = False

    def begin(self, scores):
        pass

    def slopes(self, scores, output, part, g, h):
        self.slopes_of(scores[output, part], self.targets[output, part], self.weight[part], g, h)

    def move(self, scores, output, part, moves):
        scores[output, part] += moves

    def value(self, scores, part):
        pairs = zip(scores[:, part], self.targets[:, part], strict=True)
        return sum(self.value_of(one, y, self.weight[part]) for one, y in pairs), 0.0

    def smooth_value(self, scores, part):
        return self.value(scores, part)[0]


@dataclass(frozen=True)
class SoftmaxRows:
    """−log p of the row's class; ``log_sums`` has log Σ exp of each row's scores."""

    targets: np.ndarray
    weight: np.ndarray
    log_sums: np.ndarray
    grows = True
    sees_differences = True
    is_rounded = False

    def begin(self, scores):
        softmax_sums(scores, self.log_sums)

    def slopes(self, scores, output, part, g, h):
        softmax_slopes(
            scores[output, part], self.log_sums[part], self.targets[output, part],
            self.weight[part], g, h,
        )  # fmt: skip

    def move(self, scores, output, part, moves):
        softmax_moves(scores[output, part], self.log_sums[part], moves)

    def value(self, scores, part):
        own = np.where(self.targets[:, part] > 0, scores[:, part], 0.0).sum(axis=0)
        return float(self.weight[part] @ (self.log_sums[part] - own)), 0.0

    def smooth_value(self, scores, part):
        return self.value(scores, part)[0]


@dataclass
class PinballRows:
    """above · max(y − f, 0) + below · max(f − y, 0), with its corner rounded off.

    Within ``width`` of the corner the loss is a parabola; the slope is one of a tangent there, and
    the loss lies above that tangent by the second number of ``value``. The curvature is that of
    the parabola through both arms (Hunter and Lange, 2000), which is nowhere below the loss.
    """

    targets: np.ndarray
    weight: np.ndarray
    below: float
    above: float
    width: float
    grows = False
    sees_differences = False
    is_rounded = True

    def begin(self, scores):
        pass

    def slopes(self, scores, output, part, g, h):
        pinball_slopes(
            scores[output, part], self.targets[output, part], self.weight[part],
            self.below, self.above, self.width, g, h,
        )  # fmt: skip

    def move(self, scores, output, part, moves):
        scores[output, part] += moves

    def value(self, scores, part):
        error = self.targets[:, part] - scores[:, part]
        sides = self.above + self.below
        value = np.maximum(self.above * error, -self.below * error).sum(axis=0)
        inside = np.maximum(1.0 - np.abs(error) / self.width, 0.0)
        slack = (0.5 * sides * np.abs(error) * inside).sum(axis=0)
        return float(self.weight[part] @ value), float(self.weight[part] @ slack)

    def smooth_value(self, scores, part):
        error = self.targets[:, part] - scores[:, part]
        inside = np.maximum(1.0 - np.abs(error) / self.width, 0.0)
        more = 0.25 * (self.above + self.below) * self.width * (inside**2).sum(axis=0)
        return self.value(scores, part)[0] + float(self.weight[part] @ more)

    def sharpen(self):
        self.width *= 0.5


# Curvatures that round to 0 would allow steps of any size; larger ones are bounds as well.
_LEAST, _ROUNDED = 1e-150, 1e-16


@compiled
def logistic_slopes(scores, targets, weight, g, h):
    for i in range(len(scores)):
        margin = targets[i] * scores[i]
        small = np.exp(-abs(margin))
        part = weight[i] / (1.0 + small)
        g[i] = -targets[i] * part * (small if margin > 0.0 else 1.0)
        h[i] = part * max(small, _LEAST) / (1.0 + small)


@compiled
def logistic_value(scores, targets, weight):
    total = 0.0
    for i in range(len(scores)):
        margin = targets[i] * scores[i]
        total += weight[i] * (np.log1p(np.exp(-abs(margin))) + max(-margin, 0.0))
    return total


@compiled
def squared_slopes(scores, targets, weight, g, h):
    for i in range(len(scores)):
        g[i] = weight[i] * (scores[i] - targets[i])
        h[i] = weight[i]


@compiled
def squared_value(scores, targets, weight):
    total = 0.0
    for i in range(len(scores)):
        total += 0.5 * weight[i] * (scores[i] - targets[i]) ** 2
    return total


@compiled
def poisson_slopes(scores, targets, weight, g, h):
    for i in range(len(scores)):
        mean = np.exp(scores[i])
        h[i] = weight[i] * max(mean, _LEAST)
        g[i] = weight[i] * (mean - targets[i])


@compiled
def poisson_value(scores, targets, weight):
    total = 0.0
    for i in range(len(scores)):
        total += weight[i] * (np.exp(scores[i]) - targets[i] * scores[i])
    return total


@compiled
def pinball_slopes(scores, targets, weight, below, above, width, g, h):
    half, tilt = 0.5 * (above + below), 0.5 * (above - below)
    for i in range(len(scores)):
        error = targets[i] - scores[i]
        curve = half / max(abs(error), width)
        h[i] = weight[i] * curve
        g[i] = -weight[i] * (curve * error + tilt)


@compiled
def softmax_sums(scores, log_sums):
    for i in range(scores.shape[1]):
        top = scores[0, i]
        for k in range(1, len(scores)):
            top = max(top, scores[k, i])
        total = 0.0
        for k in range(len(scores)):
            total += np.exp(scores[k, i] - top)
        log_sums[i] = top + np.log(total)


@compiled
def softmax_slopes(scores, log_sums, targets, weight, g, h):
    for i in range(len(scores)):
        p = min(np.exp(scores[i] - log_sums[i]), 1.0)
        g[i] = weight[i] * (p - 1.0 if targets[i] > 0 else p)
        h[i] = weight[i] * max(p, _LEAST) * max(1.0 - p, _ROUNDED)


@compiled
def softmax_moves(scores, log_sums, moves):
    for i in range(len(scores)):
        p = min(np.exp(scores[i] - log_sums[i]), 1.0)
        scores[i] += moves[i]
        log_sums[i] += np.log1p(p * np.expm1(moves[i]))


_LOGISTIC = logistic_slopes, logistic_value, True
_SEPARABLE = {
    losses.LogLoss: _LOGISTIC,
    losses.LabelLogLoss: _LOGISTIC,
    losses.SquaredError: (squared_slopes, squared_value, False),
    losses.PoissonLoss: (poisson_slopes, poisson_value, True),
}
