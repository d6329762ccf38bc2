"""Forests from rows in blocks: trees of a sample, whose leaf models all rows refit together.

What a plan says of trees (their shape, pairs, a linear root) is chosen on the sample, and so is
whether a linear model is as good: then it stays that of the sample. Leaves minimize what they do in
memory (``solvers/forests/refit.py``), by sums over all rows (``solvers/forests/statistics.py``). λ
is chosen on held-out rows, and one of the choices is to leave leaves as grown. Other than in
memory, leaves are linear only where that is asked for, and monotone constraints are refused: leaves
in order need all rows at once.
"""

import numbers
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ...._config import allowed_memory
from ....losses import AbsoluteError, PoissonLoss, QuantileError
from ....predictors.combined import Exponential
from ....solvers.forests.penalty_path import LeafPath
from ....solvers.forests.problem import models_of
from ....solvers.forests.refit import scores_of
from ....solvers.forests.row_losses import typical_curvature
from ....solvers.forests.statistics import LeafFrame, LeafSums, add_sums, leaf_statistics
from ....solvers.watch import Progress, Watch
from ..capacity import Verdict, about_best
from ..checks import require_memory
from ..forests.choice import choose_plan
from ..forests.parts import Slopes, base_scores, fit_root, forest_from
from ..forests.plan import grow_plan, root_columns, root_of, slope_columns, with_pairs
from ..forests.refit import require_counts
from ..forests.trials import LAMBDAS
from ..forests.wishes import wishes_of
from ..model import Learned
from ..outputs import Teller, keeping
from .memory import SMALLER_BLOCKS
from .training import train_on_blocks

_HELD_OUT = 0.1
_ROUNDED = 1.0 / 16.0  # the width of a corner, as a share of the mean error
_LEAST_ROWS, _REFIT_BYTES = 1000, 400  # of a sample, and of each of its rows
_COPIES = 32  # of all leaf models, at most, while they are refitted


@dataclass(frozen=True)
class Start:
    """Trees of the sample and all that their refit needs; without a refit ``path`` is None."""

    plan: object
    tried: list
    grown: object
    root: object
    slopes: Slopes | None
    columns: object
    unit: float  # of λ, in rows
    frame: LeafFrame | None = None
    path: LeafPath | None = None


def forest_sample(model, block_rows, n_features, blocks):
    """How many rows of a source grow trees: those of a block and a half, if there is room.

    ``blocks`` is what the blocks take, in bytes.
    """
    n_pairs = model.pairs if isinstance(model.pairs, numbers.Integral) else 24
    per_row = 8 * 3 * (n_features + n_pairs) + 5 * 4 * n_features + _REFIT_BYTES
    require_memory(blocks + _LEAST_ROWS * per_row, SMALLER_BLOCKS)
    room = allowed_memory() - blocks
    return int(min(block_rows + block_rows // 2, room // per_row))


def learn_forest_from(model, rows, keeper):
    """A ``Learned`` of a forest, or of a linear model where the sample asks for no more."""
    _require_streaming(model)
    rng, tell, held = np.random.RandomState(rows.seed), Teller(model), None
    if model.leaf_penalty == "auto":
        rows, held = rows.split(_HELD_OUT)
    start = start_of_refit(model, rows.stratified_sample(), held, rng, tell, rows.memory)
    kept = None
    if start.path is not None:
        training = LeafTraining(start, rows.mean_weight, model.n_jobs)
        watch = Watch(tell.steps("pass"))
        with keeping("the best leaf models so far are") as interruption:
            train_on_blocks(training, rows, watch, keeper)
        kept = interruption.kept
    return replace(finished(model, start), kept=kept)


def start_of_refit(model, sample, held, rng, tell, memory=0):
    """A ``Start`` from rows in memory; ``held`` is None where λ is given.

    ``memory`` is what other rows take, in bytes.
    """
    loss = model._loss
    require_counts(sample, loss)
    wishes = wishes_of(model, sample)
    # λ of the sample says nothing: those rows have grown the trees
    plan, tried = choose_plan(sample, replace(wishes, lam=np.inf), loss, rng, tell)
    seed = int(rng.randint(np.iinfo(np.int32).max))
    columns = with_pairs(sample, wishes, plan.n_pairs, loss, seed)
    root = None
    if plan.root:
        root = fit_root(sample, loss, root_columns(sample, columns), plan.root_C)
    grown = grow_plan(sample, plan, columns, loss, root, seed)
    root, slopes = root_of(plan, root), None
    stays = plan.shape.n_trees == 0 or wishes.lam == np.inf
    if plan.has_slopes and not stays:
        slopes = Slopes.of(sample, slope_columns(sample, columns))
    start = Start(plan, tried, grown, root, slopes, columns, 1.0)
    return start if stays else _with_path(model, start, wishes, sample, held, memory)


def _with_path(model, start, wishes, sample, held, memory):
    grown, loss, slopes = start.grown, model._loss, start.slopes
    n_slopes = 0 if slopes is None else len(slopes.columns)
    size = 8 * (n_slopes + 1) * (_COPIES + 3 * n_slopes) * grown.values.size
    require_memory(size + memory, f"grow fewer leaves, or {SMALLER_BLOCKS}")
    before = partial(base_scores, grown, start.root)
    scores = _scores(start, grown.values, None, sample.X)
    unit, width = typical_curvature(loss, scores, sample.targets, sample.weight), 0.0
    if isinstance(loss, AbsoluteError | QuantileError):
        width = _ROUNDED / unit
    seen = None if slopes is None else slopes.seen
    frame = LeafFrame(grown.gate, grown.outputs, loss, before, seen, width)
    first = models_of(grown.values, np.zeros((*grown.values.shape, n_slopes)))
    n_told = grown.values.shape[1]
    most = len(grown.outputs) if n_told > 1 else int(np.bincount(grown.outputs).max())
    lams, judge, choose = LAMBDAS[1:], None, None
    if wishes.lam is not None or held is None:
        lams = [10.0 if wishes.lam is None else wishes.lam]
    else:
        scored = partial(_scores, start, X=held.X)

        def judge(models):
            return loss.value(scored(models[:, :, 0], models[:, :, 1:]), held.targets)

        choose = partial(about_best, weight=held.weight)
    path = LeafPath(first, [lam * unit for lam in lams], most, judge, choose)
    return replace(start, unit=unit, frame=frame, path=path)


def _scores(start, values, slopes, X):
    grown = start.grown
    Z = None if start.slopes is None or slopes is None else start.slopes.seen(X)
    return scores_of(
        grown.gate(X), grown.gate.leaf_starts, values, slopes, grown.outputs, Z,
        base_scores(grown, start.root, X),
    )  # fmt: skip


def finished(model, start):
    """A ``Learned`` of what the refit has found."""
    plan, path, grown = start.plan, start.path, start.grown
    predictor, gap = forest_from(grown, start.root), 0.0
    tried = [Verdict(one.setting.settings(), one.loss) for one in start.tried]
    if path is not None:
        plan = replace(plan, lam=path.lam / start.unit)
        tried += [
            Verdict(replace(plan, lam=lam / start.unit).settings(), float(np.mean(losses)))
            for lam, losses in path.losses.items()
        ]
        if np.isfinite(plan.lam):
            gap = path.search.relative_gap
            models = path.models
            predictor = forest_from(
                grown, start.root, models[:, :, 0], models[:, :, 1:], start.slopes
            )
    attributes = {
        "plan_": {**plan.settings(), "pairs": len(start.columns.pairs)},
        "settings_tried_": tried,
        "pairs_": np.column_stack([start.columns.pairs.pairs, start.columns.pairs.factors]),
        "refit_gap_": gap,
    }
    if isinstance(model._loss, PoissonLoss):
        predictor = Exponential(predictor)
    return Learned(predictor, attributes)


@dataclass(frozen=True)
class LeafPass:
    """The sums of a block at some leaf models; weights of the block have a mean of 1."""

    frame: LeafFrame
    mean_weight: float
    n_jobs: int | None = None
    plus = staticmethod(add_sums)

    def __call__(self, models, X, targets, weight):
        if isinstance(self.frame.loss, PoissonLoss) and targets.min() < 0:
            raise ValueError("loss='poisson' needs counts: y is below 0 somewhere.")
        weight = weight * self.mean_weight
        return leaf_statistics(self.frame, models, X, targets, weight, self.n_jobs)


class LeafTraining:
    """The passes of a refit, a block at a time; sums of a pass that is not over are kept, too."""

    epoch = 0  # all passes are in one order

    def __init__(self, start, mean_weight, n_jobs):
        self.statistics = LeafPass(start.frame, mean_weight, n_jobs)
        self.path, self._sums = start.path, None

    @property
    def is_over(self):
        return self.path.is_over

    def model(self):
        return self.path.search

    @property
    def asked(self):
        """What the statistics of a pass are of."""
        return self.path.trial

    def take(self, X, targets, weight):
        """Add the sums of a block, whose weights have a mean of 1."""
        self.add(self.statistics(self.asked, X, targets, weight))

    def add(self, sums):
        self._sums = sums if self._sums is None else add_sums(self._sums, sums)

    def end_epoch(self, watch):
        sums, self._sums = self._sums, None
        self.path.advance(sums)
        search = self.path.search
        watch(Progress(len(watch.history) + 1, search.objective, search.gap, state=search))

    def state(self):
        arrays, plain = self.path.state()
        sums = {} if self._sums is None else {"sums.slopes": self._sums.slopes}
        if sums:
            sums["sums.curves"] = self._sums.curves
        plain["sums.loss"] = None if self._sums is None else self._sums.loss
        return arrays | sums, plain

    def restore(self, arrays, plain):
        self.path.restore(arrays, plain)
        if plain["sums.loss"] is not None:
            self._sums = LeafSums(plain["sums.loss"], arrays["sums.slopes"], arrays["sums.curves"])


def _require_streaming(model):
    if model.monotonic_cst is not None:
        raise ValueError(
            "monotonic_cst needs all rows at once: give monotonic_cst=None for rows in blocks."
        )
