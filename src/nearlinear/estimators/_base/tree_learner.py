"""What the tree estimators share: from training rows to a tree, by the solver asked for."""

from dataclasses import replace
from functools import partial

import numpy as np
from sklearn.utils import check_random_state

from ..._compile import one_blas_thread
from ...gates.trees.balanced import hard_paths
from ...predictors.tree_forest import TreeForest
from ...solvers.anchors.linear_root import solve_linear
from ...solvers.trees.adam import Annealing, TreeStream, train_tree
from ...solvers.trees.model import project_rows, with_linear_root
from ...solvers.trees.original import start_original, train_original
from ...solvers.trees.paths import can_polish, path_scores, polish_weights
from ...solvers.trees.soft import SoftPass
from ...solvers.trees.start import start_projection, start_tree
from ...solvers.watch import Progress, Watch
from .capacity import are_many, choose_setting, judge, tell_verdicts
from .progress import tell, teller
from .tree_settings import TreeSetting, TreeSettings
from .whole_fit import keep, keeping

_SOFT_SCORE_ROWS = 500  # enough to see the gap between soft and hard splits
_ROOT_C = (1.0, 0.1, 10.0, 0.01)  # strengths of the linear root that are tried, the usual first
_FEW_SHARE = 8  # at most an eighth of the components are the linear model's directions
_ROOT_ROWS = 10_000  # enough for the linear model that training goes on from


class TreeLearner(TreeSettings):
    """Training of trees. A kind of task adds ``_coordinates(rows)`` and ``_task()``."""

    def _learn(self, rows):
        self._check_memory(rows)
        rng = check_random_state(self.random_state)
        setting, tried = self._choose_setting(rows, rng)
        shape = self._depth(rows, setting), self._rank(rows)
        train, held_out = rows, None
        is_checked = self._finds_capacity() and are_many(rows)
        chooses = self.early_stopping or self.polish or self.n_init > 1
        if chooses or is_checked:
            train, held_out = rows.split(self.validation_fraction, rng)
        n_trees = self._tree_count(rows.X.shape[0], setting)
        coordinates, starts = self._previous(train, *shape, n_trees)
        if coordinates is None:
            coordinates = self._coordinates(train)
        trees = []
        try:
            for start in starts:
                attempts = []
                trees.append(attempts)
                for _ in range(self.n_init):
                    generator = np.random.default_rng(rng.randint(np.iinfo(np.int32).max))
                    seen = held_out if chooses else None
                    watch, compare = self._record(train, seen, coordinates)
                    attempts.append(watch)
                    self._attempt(train, coordinates, start, setting, generator, watch, compare)
        except KeyboardInterrupt:
            if all(watch.best is None for watch in trees[0]):
                raise
            keep(self, "the best model so far is")
        watches = [max(attempts, key=_quality) for attempts in trees if attempts]
        watches = [watch for watch in watches if watch.best is not None]
        if is_checked and held_out is not None:
            models = [watch.best for watch in watches]
            tried = self._compare_with_linear(setting, models, coordinates, train, held_out, rng)
            if tried[0].loss <= tried[1].loss:
                setting, coordinates = tried[0].setting, self._coordinates(rows)
                watches = [self._linear(rows, coordinates, setting, rng)]
        self.history_ = watches[0].history
        self.n_iter_ = watches[0].history[-1].step
        self.setting_, self.settings_tried_ = setting, tried
        self._coordinates_found = coordinates
        found = tuple(coordinates.predictor(watch.best) for watch in watches)
        self.predictor_ = found[0] if len(found) == 1 else TreeForest(found)

    def _compare_with_linear(self, setting, models, coordinates, train, held_out, rng):
        """Held-out losses of the linear model and of trees of many rows."""
        Z, targets = coordinates.rows(held_out.X), coordinates.targets(held_out)
        linear = TreeSetting(None, 1.0, 0.0, 1.0)
        line = self._linear(train, coordinates, linear, rng).best

        def losses(models):
            scores = sum(_path_scores(model, Z) for model in models) / len(models)
            return self._task().loss.value(scores, targets)

        return judge([(linear, losses([line])), (setting, losses(models))], held_out.weight)

    def _linear(self, rows, coordinates, setting, rng):
        watch = Watch()
        generator = np.random.default_rng(rng.randint(np.iinfo(np.int32).max))
        self._attempt(rows, coordinates, None, setting, generator, watch)
        return watch

    def _choose_setting(self, rows, rng):
        """The linear model, and then the trees on top of it, judged on held-out rows."""
        if not self._finds_capacity():
            return self._usual_setting(), []
        if self.warm_start and getattr(self, "setting_", None) is not None:
            return replace(self.setting_, **self._given()), self.settings_tried_
        if are_many(rows):
            candidates = self._for_many_rows if self._rank(rows) is None else self._for_wide_rows
            return self._tree_settings(_ROOT_C[0], candidates)[0], []
        linear = [TreeSetting(None, C, 0.0, C) for C in _ROOT_C]
        root, tried = choose_setting(rows, linear, self._held_out_losses, rng)
        settings = [root, *self._tree_settings(root.root_C, self._candidates)]
        setting, judged = choose_setting(rows, settings, self._held_out_losses, rng)
        tell_verdicts(partial(tell, self), tried + judged)
        return setting, tried + judged

    def _held_out_losses(self, train, held_out, setting, seed):
        """Losses of held-out rows under as many trees as there will be, trained on the others."""
        coordinates = self._coordinates(train)
        Z, generator = coordinates.rows(held_out.X), np.random.default_rng(seed)
        n_trees, scores = self._tree_count(train.X.shape[0], setting), 0.0
        for _ in range(n_trees):
            watch = Watch()
            self._attempt(train, coordinates, None, setting, generator, watch)
            scores = scores + _path_scores(watch.best, Z) / n_trees
        return self._task().loss.value(scores, coordinates.targets(held_out))

    def _previous(self, rows, depth, n_components, n_trees):
        """Coordinates and trees of the previous fit, or None where they do not fit any more."""
        unknown = None, [None] * n_trees
        previous = getattr(self, "predictor_", None) if self.warm_start else None
        if previous is None:
            return unknown
        trees = previous.trees if isinstance(previous, TreeForest) else (previous,)
        first = trees[0]
        rank = None if first.projection is None else len(first.projection)
        shape = (first.depth, rank, first.n_features, first.weights.shape[1])
        wanted = (depth, n_components, rows.X.shape[1], rows.targets.shape[1])
        if (shape, first.node_gate, len(trees)) != (wanted, self._node_gate(), n_trees):
            return unknown
        coordinates = self._coordinates_found
        return coordinates, [coordinates.model(tree, rows.X.dtype) for tree in trees]

    def _attempt(self, train, coordinates, start, setting, rng, watch, compare=None):
        """One training run; ``compare`` gives the soft and the hard score of a tree, or is None."""
        loss = self._task().loss
        Z, targets = coordinates.rows(train.X), coordinates.targets(train)
        first, last = self._sharpness_range()
        is_new = start is None or setting.depth is None
        if is_new:
            start = self._start(Z, targets, train, setting, loss, rng)
        else:
            first = last  # the splits are good: blurring them again would lose them
        if setting.depth is None:
            watch(Progress(1, _mean_loss(start, Z, targets, train.weight, loss), state=start))
            return
        common = dict(
            loss=loss, n_epochs=self._epochs(train), rng=rng, n_jobs=self.n_jobs,
            learning_rate=self._rate(), compare=compare,
        )  # fmt: skip
        if self.solver == "sgd":
            train_original(Z, targets, train.weight, start, watch, is_new=is_new, **common)
        else:
            train_tree(
                Z, targets, train.weight, start, watch, C=setting.C,
                direction_ridge=self.direction_penalty,
                annealing=Annealing(first, last, self.hard_fraction),
                batch_size=self._batch_rows(Z.shape[0]), jitter=setting.jitter, **common,
            )  # fmt: skip
        if self.polish and watch.score is not None and can_polish(loss):
            watch.keeps_last = False  # from here on the better one
            polished = polish_weights(
                watch.best, Z, targets, train.weight, loss=loss, C=setting.C,
                rng=np.random.RandomState(rng.integers(2**31)), n_jobs=self.n_jobs,
            )  # fmt: skip
            last = watch.history[-1]
            watch(Progress(last.step, last.objective, state=polished))

    def _record(self, train, held_out, coordinates):
        """What keeps the best tree by its hard paths, and what scores soft ones.

        Without held-out rows, soft and hard splits are compared on training rows.
        """
        task, seen_by = self._task(), held_out
        if held_out is None:
            seen_by = train.take(np.arange(min(_SOFT_SCORE_ROWS, train.X.shape[0])))
        Z, targets, weight = (
            coordinates.rows(seen_by.X), coordinates.targets(seen_by), seen_by.weight
        )  # fmt: skip
        few = slice(0, _SOFT_SCORE_ROWS)

        def score(model):
            return task.score(_path_scores(model, Z), targets, weight)

        def score_soft(model, sharpness):
            scores = SoftPass(model, 256).scores(model, model.rows(Z[few]), sharpness)
            return task.score(scores, targets[few], weight[few])

        def compare(model, sharpness):
            return {"soft_score": score_soft(model, sharpness), "hard_score": score(model)}

        watch = Watch(
            self._tell,
            None if held_out is None else score,
            self.n_iter_no_change if self.early_stopping else np.inf,
            keeps_last=not self.early_stopping,
        )
        return watch, compare

    def _start(self, Z, targets, rows, setting, loss, rng):
        depth, n_components = self._depth(rows, setting), self._rank(rows)
        n_outputs, node_gate = targets.shape[1], self._node_gate()
        if self.solver == "sgd":
            return start_original(Z, depth, n_outputs, node_gate, rng)
        some = slice(None)
        if Z.shape[0] > _ROOT_ROWS and setting.depth is not None:
            some = np.sort(rng.choice(Z.shape[0], _ROOT_ROWS, replace=False))

        def linear_model(Z):
            plain = Z[some][:, :-1]
            plain = np.ascontiguousarray(plain) if isinstance(plain, np.ndarray) else plain.tocsr()
            return solve_linear(
                plain, targets[some], rows.weight[some], loss=loss, C=setting.root_C
            )

        projection = None
        if n_components is not None:
            # the linear model's own directions, where they leave room for others
            first = None
            if setting.root_C is not None and _FEW_SHARE * n_outputs <= n_components:
                first = linear_model(Z)[:, :-1]
            projection = start_projection(Z, n_components, rng, first)
            Z = project_rows(Z, projection)
        from_data = self.splits == "top_down"
        start = start_tree(Z, depth, n_outputs, node_gate, rng, from_data=from_data)
        if setting.root_C is not None:
            start = with_linear_root(start, linear_model(Z))
        return replace(start, projection=projection)

    def _continue_stream(self, rows, rng):
        """Steps on the rows of one call; the first call also makes the tree."""
        if not hasattr(self, "_trainer"):
            self._trainer = self._start_stream(rows, rng)
            self._weight_seen = 0.0
        coordinates = self._coordinates_found
        self._weight_seen += rows.weight.sum()
        setting = self._usual_setting()
        with one_blas_thread(), keeping(self, "what was learned from the rows so far is"):
            self._trainer.train(
                coordinates.rows(rows.X), coordinates.targets(rows), rows.weight,
                loss=self._task().loss, ridge=1.0 / (setting.C * self._weight_seen),
                direction_ridge=self.direction_penalty, jitter=setting.jitter,
                batch_size=self._batch_rows(rows.X.shape[0]), n_jobs=self.n_jobs,
                rng=np.random.default_rng(rng.randint(np.iinfo(np.int32).max)),
            )  # fmt: skip
        self.predictor_ = coordinates.predictor(self._trainer.model())
        return self

    def _start_stream(self, rows, rng):
        """From the fitted tree if there is one, else from the rows of the first call."""
        previous = getattr(self, "predictor_", None)
        if self.n_trees not in (1, "auto") or isinstance(previous, TreeForest):
            raise ValueError("partial_fit trains one tree; n_trees must be 1 from the first fit.")
        if self.solver != "adam":
            raise ValueError("partial_fit needs solver='adam'; the original schedule has an end.")
        first, last = self._sharpness_range()
        if previous is not None:
            start, first = self._coordinates_found.model(previous, rows.X.dtype), last
        else:
            setting = self._usual_setting()
            self._check_memory(rows)
            self._coordinates_found = coordinates = self._coordinates(rows)
            generator = np.random.default_rng(rng.randint(np.iinfo(np.int32).max))
            Z, targets = coordinates.rows(rows.X), coordinates.targets(rows)
            loss = self._task().loss
            start = self._start(Z, targets, rows, setting, loss, generator)
        return TreeStream(start, self._rate(), Annealing(first, last, 0.0))

    def _tell(self, progress):
        score = self._task().score_name
        words = {"soft_score": f"{score} with soft splits", "hard_score": "with hard ones"}
        figures = {words[name]: value for name, value in progress.figures.items()}
        teller(self, "epoch", f"held-out {score}")(replace(progress, figures=figures))

    @property
    def hardening_gap_(self):
        """Score with soft splits less that with hard ones, at the last soft epoch."""
        soft = [line.figures for line in self.history_ if line.figures]
        return soft[-1]["soft_score"] - soft[-1]["hard_score"] if soft else None


def _path_scores(model, Z):
    """Scores of scaled rows along their hard paths."""
    seen = model.rows(Z)
    return path_scores(model, seen, hard_paths(seen, model.splits, model.depth))


def _mean_loss(model, Z, targets, weight, loss):
    return float(np.average(loss.value(_path_scores(model, Z), targets), weights=weight))


def _quality(watch):
    """Restarts are compared by held-out score, or without one by the objective reached."""
    if watch.best is None:
        return -np.inf
    return watch.best_score if watch.score is not None else -watch.history[-1].objective
