"""What a tree is to learn, and how good its scores are."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class TreeTask:
    """What a tree is to learn: a loss, and ``score(scores, targets, weight)``, best if highest."""

    loss: object
    score: object
    score_name: str


def accuracy(scores, targets, weight):
    """Weighted share of rows whose highest score is that of their class."""
    if scores.shape[1] == 1:
        right = (scores > 0) == (targets > 0)
        return float(np.average(right[:, 0], weights=weight))
    return float(np.average(scores.argmax(axis=1) == targets.argmax(axis=1), weights=weight))


def explained(scores, targets, weight):
    """R²: one less the share of the variance that is left."""
    left = np.average((scores - targets)[:, 0] ** 2, weights=weight)
    mean = np.average(targets[:, 0], weights=weight)
    spread = np.average((targets[:, 0] - mean) ** 2, weights=weight)
    return float(1.0 - left / spread) if spread > 0 else float(-left)
