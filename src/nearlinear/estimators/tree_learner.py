"""What the tree estimators share: from training rows to a tree, by the solver asked for."""

from dataclasses import replace

import numpy as np
from sklearn.utils import check_random_state

from .._compile import one_blas_thread
from .._warn import warn_user
from ..gates.tree import hard_paths
from ..predictors.tree_forest import TreeForest
from ..solvers.solution import BestIterate
from ..solvers.tree_adam import train_tree
from ..solvers.tree_gradients import SoftPass
from ..solvers.tree_model import project_rows
from ..solvers.tree_paths import path_scores
from ..solvers.tree_phases import Annealing
from ..solvers.tree_polish import can_polish, polish_weights
from ..solvers.tree_sgd import start_original, train_original
from ..solvers.tree_start import start_projection, start_tree
from ..solvers.tree_stream import TreeStream
from .tree_settings import TreeSettings

_SOFT_SCORE_ROWS = 2000  # enough to see the gap between soft and hard splits


class TreeLearner(TreeSettings):
    """Training of trees. A kind of task adds ``_coordinates(rows)`` and ``_task()``."""

    def _learn(self, rows):
        shape = self._depth(rows), self._rank(rows)
        self._check_memory(rows, *shape)
        rng = check_random_state(self.random_state)
        train, held_out = rows, None
        if self.early_stopping or self.polish or self.n_restarts > 1:
            train, held_out = rows.split(self.validation_fraction, rng)
        coordinates, starts = self._previous(train, *shape)
        if coordinates is None:
            coordinates = self._coordinates(train)
        trees = []
        try:
            for start in starts:
                attempts = []
                trees.append(attempts)
                for _ in range(self.n_restarts):
                    generator = np.random.default_rng(rng.randint(np.iinfo(np.int32).max))
                    self._attempt(train, held_out, coordinates, start, shape, generator, attempts)
        except KeyboardInterrupt:
            if all(keeper.model is None for keeper in trees[0]):
                raise
            warn_user("Interrupted: the best model so far is kept.")
        keepers = [max(attempts, key=_quality) for attempts in trees if attempts]
        keepers = [keeper for keeper in keepers if keeper.model is not None]
        self.history_ = keepers[0].history
        self.n_iter_ = keepers[0].history[-1].epoch
        self._coordinates_found = coordinates
        found = tuple(coordinates.predictor(keeper.model) for keeper in keepers)
        self.predictor_ = found[0] if len(found) == 1 else TreeForest(found)

    def _previous(self, rows, depth, n_components):
        """Coordinates and trees of the previous fit, or None where they do not fit any more."""
        unknown = None, [None] * self.n_trees
        previous = getattr(self, "predictor_", None) if self.warm_start else None
        if previous is None:
            return unknown
        trees = previous.trees if isinstance(previous, TreeForest) else (previous,)
        first = trees[0]
        rank = None if first.projection is None else len(first.projection)
        shape = (first.depth, rank, first.n_features, first.weights.shape[1])
        wanted = (depth, n_components, rows.X.shape[1], rows.targets.shape[1])
        if (shape, first.feature, len(trees)) != (wanted, self._feature(), self.n_trees):
            return unknown
        coordinates = self._coordinates_found
        return coordinates, [coordinates.model(tree, rows.X.dtype) for tree in trees]

    def _attempt(self, train, held_out, coordinates, start, shape, rng, attempts):
        """One training run; its record is put among ``attempts`` before it begins."""
        task = self._task()
        Z, targets = coordinates.rows(train.X), coordinates.targets(train)
        keeper, compare = self._record(train, held_out, coordinates, task)
        attempts.append(keeper)
        first, last = self._sharpness_range()
        is_new = start is None
        if is_new:
            start = self._start(Z, targets.shape[1], *shape, rng)
        else:
            first = last  # the splits are good: blurring them again would lose them
        common = dict(
            loss=task.loss, n_epochs=self.max_iter, rng=rng, n_jobs=self.n_jobs,
            learning_rate=self._rate(), compare=compare,
        )  # fmt: skip
        if self.solver == "sgd":
            train_original(Z, targets, train.weight, start, keeper, is_new=is_new, **common)
        else:
            train_tree(
                Z, targets, train.weight, start, keeper, C=self.C,
                direction_ridge=self.direction_penalty,
                annealing=Annealing(first, last, self.hard_share),
                batch_size=self._batch_rows(Z.shape[0]), jitter=self.jitter, **common,
            )  # fmt: skip
        if self.polish and held_out is not None and can_polish(task.loss):
            keeper.keeps_latest = False  # from here on the better one
            polished = polish_weights(
                keeper.model, Z, targets, train.weight, loss=task.loss, C=self.C,
                rng=np.random.RandomState(rng.integers(2**31)), n_jobs=self.n_jobs,
            )  # fmt: skip
            keeper.offer(keeper.history[-1].epoch, keeper.history[-1].objective, polished)

    def _record(self, train, held_out, coordinates, task):
        """What keeps the best tree by its hard paths, and what scores soft ones.

        Without held-out rows, soft and hard splits are compared on training rows.
        """
        seen_by = held_out
        if held_out is None:
            seen_by = train.take(np.arange(min(_SOFT_SCORE_ROWS, train.X.shape[0])))
        Z, targets, weight = (
            coordinates.rows(seen_by.X), coordinates.targets(seen_by), seen_by.weight
        )  # fmt: skip
        few = slice(0, _SOFT_SCORE_ROWS)

        def score(model):
            seen = model.rows(Z)
            paths = hard_paths(seen, model.splits, model.depth)
            return task.score(path_scores(model, seen, paths), targets, weight)

        def score_soft(model, sharpness):
            scores = SoftPass(model, 256).scores(model, model.rows(Z[few]), sharpness)
            return task.score(scores, targets[few], weight[few])

        keeper = BestIterate(
            None if held_out is None else score,
            self.n_iter_no_change if self.early_stopping else np.inf,
            self._report if self.verbose else None,
            keeps_latest=not self.early_stopping,
        )
        return keeper, lambda model, sharpness: (score_soft(model, sharpness), score(model))

    def _start(self, Z, n_outputs, depth, n_components, rng):
        if self.solver == "sgd":
            return start_original(Z, depth, n_outputs, self._feature(), rng)
        projection = None
        if n_components is not None:
            projection = start_projection(Z, n_components, rng)
            Z = project_rows(Z, projection)
        from_data = self.splits == "top_down"
        start = start_tree(Z, depth, n_outputs, self._feature(), rng, from_data=from_data)
        return replace(start, projection=projection)

    def _continue_stream(self, rows, rng):
        """Steps on the rows of one call; the first call also makes the tree."""
        if not hasattr(self, "_trainer"):
            self._trainer = self._start_stream(rows, rng)
            self._weight_seen = 0.0
        coordinates = self._coordinates_found
        self._weight_seen += rows.weight.sum()
        with one_blas_thread():
            self._trainer.train(
                coordinates.rows(rows.X), coordinates.targets(rows), rows.weight,
                loss=self._task().loss, ridge=1.0 / (self.C * self._weight_seen),
                direction_ridge=self.direction_penalty, jitter=self.jitter,
                batch_size=self._batch_rows(rows.X.shape[0]), n_jobs=self.n_jobs,
                rng=np.random.default_rng(rng.randint(np.iinfo(np.int32).max)),
            )  # fmt: skip
        self.predictor_ = coordinates.predictor(self._trainer.model())
        return self

    def _start_stream(self, rows, rng):
        """From the fitted tree if there is one, else from the rows of the first call."""
        previous = getattr(self, "predictor_", None)
        if self.n_trees > 1 or isinstance(previous, TreeForest):
            raise ValueError("partial_fit trains one tree; n_trees must be 1 from the first fit.")
        if self.solver != "adam":
            raise ValueError("partial_fit needs solver='adam'; the original schedule has an end.")
        first, last = self._sharpness_range()
        if previous is not None:
            start, first = self._coordinates_found.model(previous, rows.X.dtype), last
        else:
            depth, n_components = self._depth(rows), self._rank(rows)
            self._check_memory(rows, depth, n_components)
            self._coordinates_found = self._coordinates(rows)
            generator = np.random.default_rng(rng.randint(np.iinfo(np.int32).max))
            Z = self._coordinates_found.rows(rows.X)
            start = self._start(Z, rows.targets.shape[1], depth, n_components, generator)
        return TreeStream(start, self._rate(), Annealing(first, last, 0.0))

    def _report(self, progress):
        held_out, soft, hard = (
            progress.validation_score, progress.soft_score, progress.hard_score
        )  # fmt: skip
        print(
            f"epoch {progress.epoch:4d}  objective {progress.objective:.5f}"
            + ("" if held_out is None else f"  held-out score {held_out:.4f}")
            + ("" if soft is None else f"  soft splits {soft:.4f}, hard {hard:.4f}")
        )

    @property
    def hardening_gap_(self):
        """Score with soft splits less that with hard ones, at the last soft epoch."""
        soft = [line for line in self.history_ if line.soft_score is not None]
        return soft[-1].soft_score - soft[-1].hard_score if soft else None


def _quality(keeper):
    """Restarts are compared by held-out score, or without one by the objective reached."""
    if keeper.model is None:
        return -np.inf
    return keeper.best if keeper.score is not None else -keeper.history[-1].objective
