"""Gates made of scores that something else computes: distances to clusters, expected success."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .learned import softmax


@dataclass(frozen=True)
class SoftmaxOf:
    """γ ∝ exp(sharpness × scores(x))."""

    scores: Callable
    sharpness: float = 1.0

    def __call__(self, X):
        return softmax(self.sharpness * self.scores(X).astype(np.float64))


@dataclass(frozen=True)
class Clipped:
    """γ = scores(x), between ``floor`` and one."""

    scores: Callable
    floor: float = 1e-3

    def __call__(self, X):
        return np.clip(self.scores(X).astype(np.float64), self.floor, 1.0)


@dataclass(frozen=True)
class UnitLength:
    """A gate divided by its length, so that Σ_m γ_m(x)² = 1."""

    gate: Callable

    def __call__(self, X):
        values = self.gate(X)
        return values / np.linalg.norm(values, axis=1, keepdims=True)


@dataclass(frozen=True)
class Switches:
    """Half the marks of the ``count`` largest scores of a row, and half of its smallest."""

    scores: Callable
    count: int

    def __call__(self, X):
        return top_and_bottom(self.scores(X), self.count)


@dataclass(frozen=True)
class TopAndBottom:
    """The same for a gate that is given the scores in place of rows."""

    count: int

    reads_scores = True

    def __call__(self, scores):
        return top_and_bottom(scores, self.count)


def top_and_bottom(scores, count):
    """(top + bottom) / 2 of every row: 0/1 marks of its ``count`` largest and smallest scores.

    With these as a gate, a row's score is half the best sum of ``count`` scores less half the
    best sum of as many scores against it.
    """
    order = np.argsort(scores, axis=1, kind="stable")
    values = np.zeros(scores.shape)
    for part in (order[:, :count], order[:, scores.shape[1] - count :]):
        marks = np.zeros(scores.shape)
        np.put_along_axis(marks, part, 0.5, axis=1)
        values += marks
    return values


@dataclass(frozen=True)
class Repeated:
    """A gate whose every value is given ``count`` times."""

    gate: Callable
    count: int

    def __call__(self, X):
        return np.repeat(self.gate(X), self.count, axis=1)
