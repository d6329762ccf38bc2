"""Anchors and local models learned row by row: stochastic subgradient steps on sparse rows.

Algorithm 1 of Mao et al. (2015), by default with its steps corrected (``FadingSteps``): the initial
models are already good, so the first step is small (relative to the rows' norms); anchors move more
cautiously than weights and never further than a tenth of the way to the row; steps fade to zero
over the run, which takes out the noise of the last ones. ``PrintedSteps`` are those of the paper.
One step costs O(nnz (m + k I)).

Dense rows are walked as sparse ones without zeros left out.
"""

from copy import copy
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix, issparse

from ..._interrupt import uninterrupted
from ..solution import LocalModels
from ..watch import Progress
from .objective import training_objective
from .row_steps import RowState, StepLimits, margin_pass, softmax_pass

_DENSE_ROWS = 2048  # dense rows given column numbers at once
# Bottou's trial of first steps: on so many rows, each of these powers of two.
_TRIAL_ROWS, _TRIAL_POWERS = 1000, range(-12, 3)


@dataclass(frozen=True)
class FadingSteps:
    """η₀ / (1 + λ η₀ t), faded to zero at the last step."""

    first_step: float
    first = 0  # weights shrink at the first row, and every ``skip`` rows from there

    def limits(self, width):
        return StepLimits()

    def steps(self, times, ridge, n_total):
        steps = self.first_step / (1.0 + self.first_step * ridge * times)
        return steps * np.maximum(0.0, 1.0 - times / n_total)


@dataclass(frozen=True)
class PrintedSteps:
    """1 / (λ (t + t0)) for weights, biases and anchors alike: eq. 16 to 19 of the paper.

    Weights shrink by 16 / (t + t0) after every 16 rows; biases only where they are all
    of a local model.
    """

    t0: float
    first = 1

    def limits(self, width):
        return StepLimits(largest_move=np.inf, keeps_biases=width > 0)

    def steps(self, times, ridge, n_total):
        return 1.0 / (ridge * (times + self.t0))


@dataclass
class RowTrainer:
    """A model under construction: takes rows in portions, gives the model so far at any time."""

    state: RowState
    sharpness: float
    anchor_rate: float
    rule: FadingSteps | PrintedSteps
    plain_metric: bool
    n_steps: int = 0

    @classmethod
    def start_from(cls, model, X, C, anchor_rate, rule=None):
        """``anchor_rate`` is the step of the anchors relative to that of the weights."""
        if rule is None:
            # 1/‖[x; 1]‖² would undo a row's whole slack in one step
            rule = FadingSteps(min(0.2 * C, 0.3 / mean_square_norm(X)))
        n_anchors = len(model.anchors)
        plain = model.metric is None
        metric = np.ones(X.shape[1]) if plain else model.metric.astype(np.float64)
        directions = model.anchors * metric
        state = RowState(
            np.ascontiguousarray(directions.T),
            metric,
            np.ones(n_anchors),
            0.5 * np.einsum("md,md->m", model.anchors, directions),
            model.weights.astype(np.float64),
            model.biases.astype(np.float64),
            np.ones(1),
        )
        return cls(state, model.sharpness, anchor_rate, rule, plain)

    def train(self, X, targets, row_weight, gate, *, loss, ridge, rng, n_total=np.inf):
        """One step for each row in random order; ``ridge`` is λ of the objective.

        Steps fade to zero at step number ``n_total``.

        ``gate`` gives the codes where anchors stand still; where they move, codes are taken from
        the anchors as they are at each step.
        """
        order = rng.permutation(X.shape[0])
        run = margin_pass if hasattr(loss, "margin_slopes") else softmax_pass
        straight, curved = getattr(loss, "margin_slopes", (0.0, 0.0))
        n_neighbors = gate.n_neighbors
        width = self.state.weights.shape[1]
        for start in range(0, len(order), _DENSE_ROWS):
            rows = order[start : start + _DENSE_ROWS]
            part = _as_csr(X[rows])
            if self.anchor_rate > 0:
                # zeros: a row whose distances overflow must still name real anchors
                indices = np.zeros((len(rows), n_neighbors), dtype=np.int32)
                codes = np.empty((len(rows), n_neighbors))
            else:
                indices, codes = gate.codes(X[rows])
            times = self.n_steps + np.arange(len(rows))
            steps = self.rule.steps(times, ridge, n_total)
            with uninterrupted():
                run(
                    part.indptr, part.indices, part.data, width, targets[rows].astype(np.float64),
                    row_weight[rows].astype(np.float64), indices, codes.astype(np.float64),
                    self.n_steps + self.rule.first, steps, ridge, straight, curved,
                    self.anchor_rate, self.sharpness, self.state, self.rule.limits(width),
                )  # fmt: skip
                self.n_steps += len(rows)

    def model(self, dtype):
        state = self.state
        return LocalModels(
            np.ascontiguousarray(
                (state.anchors * state.anchor_scale).T / state.metric, dtype=dtype
            ),
            self.sharpness,
            (state.weights * state.model_scale[0]).astype(dtype),
            (state.biases * state.model_scale[0]).astype(dtype),
            None if self.plain_metric else state.metric.astype(dtype),
        )


class RowTraining:
    """Epochs of steps on rows that come in blocks, ``n_rows`` of them in an epoch.

    ``objective(model)`` is what a record says of the model after an epoch.
    """

    def __init__(
        self, start, like, gate, objective, *, n_rows, loss, C, ridge, n_epochs, anchor_rate, rng
    ):
        # constants read no feature, and may take long steps
        square = mean_square_norm(start.local_features(like))
        rule = FadingSteps(min(0.2 * C, 0.3 / square))
        self._trainer = RowTrainer.start_from(start, like, C, anchor_rate, rule)
        self._gate, self._objective, self._rng, self._dtype = gate, objective, rng, like.dtype
        self._settings = {"loss": loss, "ridge": ridge, "rng": rng, "n_total": n_epochs * n_rows}
        self.epoch, self._n_epochs, self._is_stopped = 0, n_epochs, False

    @property
    def is_over(self):
        return self._is_stopped or self.epoch >= self._n_epochs

    def take(self, X, targets, row_weight):
        """One step for each row of a block."""
        self._trainer.train(X, targets, row_weight, self._gate, **self._settings)

    def end_epoch(self, watch):
        """Tell ``watch`` of the model, after all blocks of an epoch."""
        self.epoch, model = self.epoch + 1, self.model()
        self._is_stopped = watch(Progress(self.epoch, self._objective(model), state=model))

    def model(self):
        return self._trainer.model(self._dtype)

    def state(self):
        """Arrays by name, and all else that the next blocks depend on as plain values."""
        plain = {"epoch": self.epoch, "n_steps": self._trainer.n_steps}
        return self._trainer.state._asdict(), plain | {"rng": self._rng.bit_generator.state}

    def restore(self, arrays, plain):
        for name, array in self._trainer.state._asdict().items():
            array[...] = arrays[name]
        self.epoch, self._trainer.n_steps = plain["epoch"], plain["n_steps"]
        self._rng.bit_generator.state = plain["rng"]

    def apart(self):
        """What takes blocks elsewhere and shares its state; the mean of states is rejoined.

        Without the rows that only the end of an epoch asks for.
        """
        other = copy(self)
        other._objective = None
        return other

    def share(self):
        arrays, plain = self.state()
        return RowState(**arrays).unscaled()._asdict(), plain

    def rejoin(self, arrays, plain):
        squares = arrays["anchors"] ** 2 / arrays["metric"][:, None]
        self.restore(arrays | {"half_norms": 0.5 * squares.sum(axis=0)}, plain)


def train_by_sgd(
    X, targets, sample_weight, start, watch, *, n_neighbors, loss, C, n_epochs, anchor_rate, rng,
    rule=None,
):  # fmt: skip
    """Run ``n_epochs`` from ``start``, and tell ``watch`` of the model after each."""
    ridge = 1.0 / (C * sample_weight.sum())
    row_weight = sample_weight / sample_weight.mean()
    trainer = RowTrainer.start_from(start, X, C, anchor_rate, rule)
    gate = start.gate(n_neighbors)
    for epoch in range(1, n_epochs + 1):
        trainer.train(
            X, targets, row_weight, gate, loss=loss, ridge=ridge, rng=rng,
            n_total=n_epochs * X.shape[0],
        )  # fmt: skip
        model = trainer.model(X.dtype)
        objective = training_objective(X, targets, sample_weight, model, n_neighbors, loss, C)
        if watch(Progress(epoch, objective, state=model)):
            break


def tried_t0(X, targets, sample_weight, start, *, n_neighbors, loss, C, rng):
    """t0 = 1 / (λ η₀) for the first step η₀ with the least objective after one pass over some rows.

    This is Bottou's recipe, which the paper takes from Bordes et al. (2009).
    """
    some = np.arange(X.shape[0])[:: -(-X.shape[0] // _TRIAL_ROWS)]
    ridge, rows = 1.0 / (C * sample_weight.sum()), (X[some], targets[some], sample_weight[some])
    weight, seed, gate = rows[2] / rows[2].mean(), rng.randint(2**31 - 1), start.gate(n_neighbors)
    share = C * sample_weight.sum() / rows[2].sum()  # the same λ on fewer rows
    found = {}
    for power in _TRIAL_POWERS:
        t0 = max(2.0 * StepLimits().skip, 1.0 / (ridge * 2.0**power))
        trainer = RowTrainer.start_from(start, rows[0], C, 1.0, PrintedSteps(t0))
        trainer.train(
            rows[0], rows[1], weight, gate, loss=loss, ridge=ridge,
            rng=np.random.RandomState(seed),
        )  # fmt: skip
        with np.errstate(all="ignore"):
            value = training_objective(*rows, trainer.model(X.dtype), n_neighbors, loss, share)
        found[t0] = value if np.isfinite(value) else np.inf
    return min(found, key=found.get)


def mean_square_norm(X):
    """Mean of ‖[x; 1]‖² over rows."""
    squares = X.multiply(X).sum() if issparse(X) else np.einsum("id,id->", X, X, dtype=float)
    return 1.0 + float(squares) / X.shape[0]


def usual_anchor_rate(X):
    """Step of the anchors relative to that of the weights.

    Anchors move by a share of their distance to a row, so unlike the weights' step theirs does
    not shrink with the rows' norm; it does with the number of features that pull together.
    """
    n_filled = X.nnz / X.shape[0] if issparse(X) else X.shape[1]
    return mean_square_norm(X) * min(1.0, 20.0 / max(1.0, n_filled))


def _as_csr(X):
    if issparse(X):
        return csr_matrix(X)
    n_rows, n_features = X.shape
    columns = np.tile(np.arange(n_features, dtype=np.int32), n_rows)
    bounds = np.arange(0, X.size + 1, n_features, dtype=np.int32)
    return csr_matrix((X.ravel(), columns, bounds), shape=X.shape)
