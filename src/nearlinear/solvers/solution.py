"""What solvers start from and return: frozen records of plain arrays."""

from dataclasses import dataclass, field

import numpy as np

from ..gates.anchors import SoftAssignment


@dataclass(frozen=True)
class LocalModels:
    """Local linear models under a soft assignment to anchors.

    ``weights`` has shape (n_anchors, n_features, n_outputs), or (n_anchors, 0, n_outputs) where
    each local model is a constant; ``biases`` has shape (n_anchors, n_outputs). ``root``, if there
    is one, is the linear model (W, b) that the penalty pulls the local ones toward.
    """

    anchors: np.ndarray
    sharpness: float
    weights: np.ndarray
    biases: np.ndarray
    metric: np.ndarray | None = None
    root: tuple[np.ndarray, np.ndarray] | None = None

    @property
    def squared_norm(self):
        """Σ_j ‖W_j − W‖² + ‖b_j − b‖², with the root or zero for (W, b)."""
        weights, biases = self.weights, self.biases
        if self.root is not None:
            weights, biases = weights - self.root[0], biases - self.root[1]
        return float(np.sum(weights**2, dtype=np.float64) + np.sum(biases**2, dtype=np.float64))

    def gate(self, n_neighbors):
        return SoftAssignment(self.anchors, n_neighbors, self.sharpness, self.metric)

    def local_features(self, X):
        """The columns of ``X`` that the local models read: all of them, or none."""
        return X if X.shape[1] == self.weights.shape[1] else X[:, : self.weights.shape[1]]


@dataclass(frozen=True)
class GatedSolution:
    """Local models found for a fixed gate, with the certificate that the solver stopped on."""

    weights: np.ndarray
    biases: np.ndarray
    objective: float
    gap: float
    n_iter: int
    dual: np.ndarray | None = None


@dataclass(frozen=True)
class Progress:
    """One line of a training record."""

    epoch: int
    objective: float
    validation_score: float | None = None
    # of a tree whose splits are still soft, and of the same with hard splits
    soft_score: float | None = None
    hard_score: float | None = None


@dataclass
class BestIterate:
    """Keeps the model with the best held-out score; says when to stop.

    ``score(model)`` is None where nothing is held out: then the latest model is kept, as it is on
    demand: at the end of a schedule the last model is better than a lucky one before.
    """

    score: object
    patience: float = np.inf
    on_progress: object = None
    keeps_latest: bool = False
    model: object = None
    best: float = -np.inf
    history: list = field(default_factory=list)
    _waited: int = 0

    def offer(self, epoch, objective, model, **notes):
        """Take note of a model. True when ``patience`` epochs brought nothing better."""
        value = None if self.score is None else self.score(model)
        self.history.append(Progress(epoch, objective, value, **notes))
        self._waited = 0 if value is None or value > self.best else self._waited + 1
        # of equals the later one: its step sizes were smaller
        if value is None or value >= self.best or self.keeps_latest:
            self.model, self.best = model, -np.inf if value is None else value
        if self.on_progress is not None:
            self.on_progress(self.history[-1])
        return self._waited >= self.patience

    def wait_again(self):
        """Begin a new phase: earlier epochs without progress do not count."""
        self._waited = 0
