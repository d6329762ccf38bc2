"""What a solver tells while it works, and who listens: seen, kept, stopped."""

from dataclasses import dataclass, field, replace

import numpy as np


@dataclass(frozen=True)
class Progress:
    """One step of a solver. ``state`` is what it has found, ``figures`` maps words to numbers."""

    step: int
    objective: float | None = None
    gap: float | None = None
    score: float | None = None  # on held-out rows
    state: object = None
    figures: dict = field(default_factory=dict)


@dataclass
class Watch:
    """Is called with every step; True asks the solver to stop.

    ``tell(progress)`` shows a step. ``score(state)`` is the score on held-out rows: then ``best``
    is the state with the highest one, and ``patience`` steps without a better one are enough.
    Without a score ``best`` is the latest state. ``last`` is the latest state: with ``best`` it is
    all that Ctrl-C leaves.
    """

    tell: object = None
    score: object = None
    patience: float = np.inf
    best: object = None
    best_score: float = -np.inf
    last: object = None
    history: list = field(default_factory=list)
    _waited: int = 0

    def __call__(self, progress):
        value = progress.score if self.score is None else self.score(progress.state)
        self._waited = 0 if value is None or value > self.best_score else self._waited + 1
        # of equals the later one: its step sizes were smaller
        if value is None or value >= self.best_score:
            self.best, self.best_score = progress.state, -np.inf if value is None else value
        self.last = progress.state
        self.history.append(replace(progress, score=value, state=None))
        if self.tell is not None:
            self.tell(self.history[-1])
        return self._waited >= self.patience

    def keep(self, state):
        """A state between two steps, for Ctrl-C."""
        self.last = state
        if self.score is None:
            self.best = state
