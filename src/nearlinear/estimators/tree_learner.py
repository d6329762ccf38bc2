"""What the tree estimators share: from training rows to a tree, by the solver asked for."""

from dataclasses import dataclass
from numbers import Real

import numpy as np
from sklearn.utils import check_random_state

from .._compile import one_blas_thread
from .._warn import warn_user
from ..gates.node_features import NODE_FEATURES, TanhFeature
from ..gates.tree import count_nodes, hard_paths
from ..predictors.tree_path import TreePath
from ..solvers.solution import BestIterate
from ..solvers.tree_adam import Annealing, train_tree
from ..solvers.tree_gradients import SoftPass
from ..solvers.tree_model import RowScaling, TreeModel
from ..solvers.tree_paths import path_scores
from ..solvers.tree_polish import can_polish, polish_weights
from ..solvers.tree_sgd import start_original, train_original
from ..solvers.tree_start import start_tree
from ..solvers.tree_stream import TreeStream
from .base import require_memory
from .constraints import SHARED, at_least, one_of, positive, share

_SOFT_SCORE_ROWS = 2000  # enough to see the gap between soft and hard splits
_WIDE = 100  # features from which the original schedule wants shorter rows
_ADAM_RATE, _ORIGINAL_RATE = 0.1, 100.0


@dataclass(frozen=True)
class TreeTask:
    """What a tree is to learn: the loss of scaled targets, and how good scores are."""

    loss: object
    score: object  # score(scores, targets, weight): higher is better
    scale: float = 1.0  # of the targets
    offset: float = 0.0

    def of(self, rows):
        """Targets of some rows in the task's own scale."""
        return ((rows.targets - self.offset) / self.scale).astype(rows.X.dtype, copy=False)


class TreeLearner:
    """Parameters and training of trees. A kind of task adds ``_task(rows)``."""

    _parameter_constraints = {
        **SHARED,
        "depth": [at_least(0), one_of("auto")],
        "feature": [one_of(*NODE_FEATURES)],
        "sigma": [positive()],
        "splits": [one_of("top_down", "random")],
        "solver": [one_of("adam", "sgd")],
        "batch_size": [at_least(1), one_of("auto")],
        "learning_rate": [positive(), one_of("auto")],
        "direction_penalty": [at_least(0, Real)],
        "jitter": [at_least(0, Real)],
        "first_sharpness": [positive()],
        "last_sharpness": [positive()],
        "hard_share": [share()],
        "polish": ["boolean"],
        "n_restarts": [at_least(1)],
        "validation_fraction": [share()],
        "early_stopping": ["boolean"],
        "n_iter_no_change": [at_least(1)],
    }
    _parameter_constraints.pop("tol")

    def _learn(self, rows):
        previous = getattr(self, "predictor_", None) if self.warm_start else None
        depth = self._depth(*rows.X.shape)
        self._check_memory(rows, depth)
        rng = check_random_state(self.random_state)
        train, held_out = rows.split(self.validation_fraction, rng)
        task = self._task(train)
        scaling = self._scaling(train)
        attempts = []
        try:
            for _ in range(self.n_restarts):
                keeper = self._attempt(
                    train, held_out, task, scaling, depth, previous,
                    np.random.default_rng(rng.randint(np.iinfo(np.int32).max)), attempts,
                )  # fmt: skip
        except KeyboardInterrupt:
            if not attempts or attempts[-1].model is None:
                raise
            warn_user("Interrupted: the best model so far is kept.")
        keeper = max(attempts, key=_rank)
        self.history_ = keeper.history
        self.n_iter_ = keeper.history[-1].epoch
        self.predictor_ = _unscaled(keeper.model, scaling, task)

    def _attempt(self, train, held_out, task, scaling, depth, previous, rng, attempts):
        """One training run; its record is put among ``attempts`` before it begins."""
        Z, targets = scaling(train.X), task.of(train)
        Z_held = None if held_out is None else scaling(held_out.X)

        def score(model):
            scores = path_scores(model, Z_held, hard_paths(Z_held, model.splits, model.depth))
            return task.score(scores, task.of(held_out), held_out.weight)

        def score_soft(model, sharpness):
            few = slice(0, _SOFT_SCORE_ROWS)
            scores = SoftPass(model, 256).scores(model, Z_held[few], sharpness)
            return task.score(scores, task.of(held_out)[few], held_out.weight[few])

        keeper = BestIterate(
            score if held_out is not None else None,
            patience=self.n_iter_no_change if self.early_stopping else np.inf,
            on_progress=self._report if self.verbose else None,
        )
        attempts.append(keeper)
        common = dict(
            loss=task.loss, n_epochs=self.max_iter, rng=rng, n_jobs=self.n_jobs,
            learning_rate=self._rate(), score_soft=None if held_out is None else score_soft,
        )  # fmt: skip
        start = self._warm_start(previous, scaling, task, (depth, targets.shape[1], Z.dtype))
        first, last = self._sharpness_range()
        if start is None:
            start = self._start(Z, targets.shape[1], depth, rng)
        else:
            first = last  # the splits are good: blurring them again would lose them
        if self.solver == "sgd":
            train_original(Z, targets, train.weight, start, keeper, **common)
        else:
            train_tree(
                Z, targets, train.weight, start, keeper, C=self.C,
                direction_ridge=self.direction_penalty,
                annealing=Annealing(first, last, self.hard_share),
                batch_size=self._batch_rows(Z.shape[0]), jitter=self.jitter, **common,
            )  # fmt: skip
        if self.polish and held_out is not None and can_polish(task.loss):
            polished = polish_weights(
                keeper.model, Z, targets, train.weight, loss=task.loss, C=self.C,
                rng=np.random.RandomState(rng.integers(2**31)), n_jobs=self.n_jobs,
            )  # fmt: skip
            keeper.offer(keeper.history[-1].epoch, keeper.history[-1].objective, polished)
        return keeper

    def _start(self, Z, n_outputs, depth, rng):
        if self.solver == "sgd":
            return start_original(Z, depth, n_outputs, self._feature(), rng)
        from_data = self.splits == "top_down"
        return start_tree(Z, depth, n_outputs, self._feature(), rng, from_data=from_data)

    def _warm_start(self, previous, scaling, task, shape):
        """The tree of the previous fit, or None where it is of another kind or shape."""
        depth, n_outputs, dtype = shape
        if previous is None or previous.feature != self._feature():
            return None
        same = (previous.depth, previous.weights.shape[1]) == (depth, n_outputs)
        same &= previous.weights.shape[2] == len(scaling.center) + 1
        return _scaled_model(previous, scaling, task, dtype) if same else None

    def _continue_stream(self, rows, rng):
        """Steps on the rows of one call; the first call also makes the tree."""
        if not hasattr(self, "_trainer"):
            depth = self._depth(*rows.X.shape)
            self._check_memory(rows, depth)
            task, scaling = self._task(rows), self._scaling(rows)
            generator = np.random.default_rng(rng.randint(np.iinfo(np.int32).max))
            previous = getattr(self, "predictor_", None)
            if previous is not None:
                depth = previous.depth
            n_outputs = rows.targets.shape[1]
            first, last = self._sharpness_range()
            start = self._warm_start(previous, scaling, task, (depth, n_outputs, rows.X.dtype))
            if start is None:
                start = self._start(scaling(rows.X), n_outputs, depth, generator)
            else:
                first = last
            self._trainer = TreeStream(start, self._rate(), Annealing(first, last, 0.0))
            self._stream_task, self._stream_scaling, self._weight_seen = task, scaling, 0.0
        task, scaling = self._stream_task, self._stream_scaling
        self._weight_seen += rows.weight.sum()
        with one_blas_thread():
            self._trainer.train(
                scaling(rows.X), task.of(rows), rows.weight, loss=task.loss,
                ridge=1.0 / (self.C * self._weight_seen), direction_ridge=self.direction_penalty,
                batch_size=self._batch_rows(rows.X.shape[0]), jitter=self.jitter,
                rng=np.random.default_rng(rng.randint(np.iinfo(np.int32).max)),
                n_jobs=self.n_jobs,
            )  # fmt: skip
        self.predictor_ = _unscaled(self._trainer.model(), scaling, task)
        return self

    def _feature(self):
        kind = NODE_FEATURES[self.feature]
        return kind(float(self.sigma)) if kind is TanhFeature else kind()

    def _rate(self):
        if self.learning_rate != "auto":
            return self.learning_rate
        return _ADAM_RATE if self.solver == "adam" else _ORIGINAL_RATE

    def _sharpness_range(self):
        first, last = float(self.first_sharpness), float(self.last_sharpness)
        if first > last:
            raise ValueError(
                f"first_sharpness={first:g} is above last_sharpness={last:g}; splits can only "
                "grow sharper."
            )
        return first, last

    def _scaling(self, rows):
        scaling = RowScaling.of(rows.X, rows.weight)
        n_features = rows.X.shape[1]
        if self.solver == "sgd" and n_features >= _WIDE:
            scaling = RowScaling(scaling.center, scaling.scale * np.sqrt(n_features))
        return scaling

    def _depth(self, n_rows, n_features):
        """As asked, or so deep that a leaf has rows enough for its model."""
        if self.depth == "auto":
            return int(np.clip(np.log2(n_rows / (100.0 + 3.0 * n_features)), 1, 9))
        if 2**self.depth > n_rows:
            warn_user(
                f"depth={self.depth} gives {2**self.depth} leaves for {n_rows} distinct rows; "
                "lower depth."
            )
        return self.depth

    def _batch_rows(self, n_rows):
        return (
            int(np.clip(n_rows // 64, 32, 1024))
            if self.batch_size == "auto"
            else (min(self.batch_size, n_rows))
        )

    def _check_memory(self, rows, depth):
        n_rows, width = rows.X.shape[0], rows.X.shape[1] + 1
        n_outputs, itemsize = rows.targets.shape[1], rows.X.dtype.itemsize
        n_nodes = count_nodes(depth)
        model = n_nodes * width * (2 + n_outputs) * itemsize
        chunks = self._batch_rows(n_rows) * n_nodes * (6 + n_outputs) * itemsize
        data = (
            n_rows * width * itemsize if isinstance(rows.X, np.ndarray) else 2 * rows.X.data.nbytes
        )
        advice = "lower depth or batch_size"
        require_memory(12 * model + chunks + 2 * data, self.max_memory, advice)

    def _report(self, progress):
        held_out, soft = progress.validation_score, progress.soft_score
        print(
            f"epoch {progress.epoch:4d}  objective {progress.objective:.5f}"
            + ("" if held_out is None else f"  held-out score {held_out:.4f}")
            + ("" if soft is None else f" (soft splits {soft:.4f})")
        )

    @property
    def hardening_gap_(self):
        """Held-out score with soft splits less that with hard ones, at the last soft epoch."""
        soft = [line for line in self.history_ if line.soft_score is not None]
        return soft[-1].soft_score - soft[-1].validation_score if soft else None


def _rank(keeper):
    """Restarts are compared by held-out score, or without one by the objective reached."""
    if keeper.model is None:
        return -np.inf
    return keeper.best if keeper.score is not None else -keeper.history[-1].objective


def _unscaled(model, scaling, task):
    weights = scaling.unscaled(model.weights)
    weights *= weights.dtype.type(task.scale)
    intercept = np.full(weights.shape[1], task.offset, dtype=weights.dtype)
    return TreePath.of(
        scaling.unscaled(model.splits), scaling.unscaled(model.slopes), weights, intercept,
        model.feature,
    )  # fmt: skip


def _scaled_model(predictor, scaling, task, dtype):
    """The tree of an earlier fit, in the coordinates of this one."""
    weights = predictor.weights
    if predictor.feature.name == "indicator":
        n_splits = 2**predictor.depth - 1
        weights = np.concatenate([np.zeros((n_splits, *weights.shape[1:])), weights])
    return TreeModel(
        scaling.scaled(predictor.splits).astype(dtype),
        scaling.scaled(predictor.slopes).astype(dtype),
        (scaling.scaled(weights) / task.scale).astype(dtype),
        predictor.feature,
    )


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
