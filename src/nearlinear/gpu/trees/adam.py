"""Trees learned by mini-batch Adam on a device, one or many at once.

The objective, the phases and the names are those of ``solvers/trees/adam.py``. Different are the
batches (all of one size, the last one filled up), how often the unit of the sharpness is measured
(in every step), and the precision, as for anchors. Projections are not learned here.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import torch

from ..._config import with_caller_context
from ...gates.trees.balanced import count_splits
from ...losses import SquaredError
from ...solvers.trees.model import TreeModel
from ...solvers.trees.start import revive_splits
from ...solvers.watch import Progress
from ..anchors.adam import precision_for, schedule_of
from ..anchors.forms import Form, Steps, can_compile, plain_or_compiled, slices_of
from ..anchors.step import LOSSES, padded
from ..feed import Feed, class_numbers, give_back, stored
from . import step

PLAIN = Form(step.gather, step.middle, step.update)
_REVIVALS = (0.1, 0.2, 0.3, 0.4, 0.5)
_SAMPLE = 4096  # rows that dead splits are looked for among
_DEAD, _FEWEST = 0.01, 20


def form_of(name, layout, device):
    """ "plain", "compiled" or "triton"; "auto" is the quickest that device and trees have."""
    if name == "triton" or (name == "auto" and can_compile(device)):
        from . import triton_step

        if name == "triton" or triton_step.fits(layout):
            return Form(triton_step.gather, triton_step.middle, triton_step.update)
    return plain_or_compiled(PLAIN, name, device)


def layout_of(starts):
    """The layout of trees of one shape; one sentence for what has none here."""
    first = starts[0]
    if first.projection is not None or first.node_gate.name not in ("tanh", "indicator"):
        raise ValueError(
            "On a device trees have the node_gate 'tanh' or 'indicator' and no projection: set "
            "n_components=None, or leave device out."
        )
    if first.splits.shape[1] != first.weights.shape[2]:
        raise ValueError("On a device trees have no global_features: leave device out.")
    return step.TreeLayout(
        len(starts), first.depth, first.weights.shape[1], first.weights.shape[2],
        len(first.slopes) > 0, getattr(first.node_gate, "sigma", 1.0),
    )  # fmt: skip


def matrix_of(layout, models, device):
    """All directions of trees in their places."""
    values = np.zeros((layout.n_rows, layout.n_columns), dtype=np.float32)
    (s0, s1), (c0, c1), (w0, w1) = layout.parts
    values[: layout.width, s0:s1] = np.concatenate([one.splits for one in models]).T
    if layout.has_slopes:
        values[: layout.width, c0:c1] = np.concatenate([one.slopes for one in models]).T
    weights = np.stack([one.weights for one in models])  # tree, node, output, column
    values[: layout.width, w0:w1] = weights.transpose(3, 2, 0, 1).reshape(layout.width, -1)
    return torch.as_tensor(values, device=device)


def models_in(layout, values, node_gate, dtype):
    """The trees of a matrix of directions."""
    found = values[: layout.width].float().cpu().numpy().astype(dtype)
    (s0, s1), (c0, c1), (w0, w1) = layout.parts
    T, shape = layout.n_trees, (layout.n_trees, -1, layout.width)
    splits = found[:, s0:s1].T.reshape(shape)
    slopes = (
        found[:, c0:c1].T.reshape(shape) if layout.has_slopes else np.empty((T, 0, layout.width))
    )
    weights = found[:, w0:w1].reshape(layout.width, layout.n_outputs, T, -1).transpose(2, 3, 1, 0)
    return tuple(
        TreeModel(*(np.ascontiguousarray(part, dtype=dtype) for part in parts), node_gate)
        for parts in zip(splits, slopes, weights)
    )


def _schedule(n_epochs, n_soft, n_batches, annealing):
    """(step size, share of the average kept, sharpness) for each step."""
    steps = np.arange(n_epochs * n_batches)
    progress = np.minimum(1.0, steps / max(1, n_soft * n_batches))
    sharpness = annealing.first * (annealing.last / annealing.first) ** progress
    return np.column_stack([schedule_of(len(steps)), sharpness])


def _told(loss, targets):
    """What steps read of targets: values, or the class of each row."""
    if isinstance(loss, SquaredError):
        return targets.float()
    has_columns = targets.ndim == 2 and targets.shape[1] > 1
    if has_columns and not bool(((targets > 0).sum(1) == 1).all()):
        raise ValueError(
            f"The loss {type(loss).__name__} of several labels a row is not there on a device yet: "
            "leave device out."
        )
    return class_numbers(targets)


class TreeTraining:
    """Epochs of Adam on rows that come in one block or in several, soft ones and then hard ones.

    ``starts`` are trees of one shape. What the watch sees is the averaged tree, or a tuple of them
    if there are several; ``found(average)``, if given, makes what it sees of the device's matrix.
    """

    def __init__(
        self, starts, like, *, n_rows, n_batches, loss, ridge, direction_ridges, annealing,
        n_epochs, batch_size, learning_rate, jitter, rng, compare=None, n_jobs=None, device="cuda",
        form="auto", dtype=None, found=None,
    ):  # fmt: skip
        if type(loss).__name__ not in LOSSES:
            raise ValueError(
                f"The loss {type(loss).__name__} is not there on a device yet: leave device out."
            )
        self.device, self._starts = torch.device(device), starts
        self.layout = layout = layout_of(starts)
        like = torch.as_tensor(like)
        self._like = like[:: max(1, -(-len(like) // _SAMPLE))].float().to(self.device)
        sizes = torch.zeros(layout.n_columns)
        for (first, last), value in zip(layout.parts, (*direction_ridges, ridge)):
            sizes[first:last] = value
        centers = [one.center for one in starts]
        center = None
        if centers[0][0] is not None:
            kept = [TreeModel(np.zeros_like(one.splits), *pulled, one.node_gate)
                    for one, pulled in zip(starts, centers)]  # fmt: skip
            center = matrix_of(layout, kept, self.device)
        n_soft = n_epochs - round(annealing.hard_fraction * n_epochs) if layout.depth else 0
        table = _schedule(n_epochs, n_soft, n_batches, annealing)
        self._state = step.TreeState(
            layout, matrix_of(layout, starts, self.device), center,
            torch.tensor(
                learning_rate / np.sqrt(layout.width), dtype=torch.float32, device=self.device
            ),
            sizes.to(self.device),
            torch.as_tensor(table, device=self.device).float(), loss=LOSSES[type(loss).__name__],
            dtype=precision_for(self._like[:, :-1], device) if dtype is None else dtype,
        )  # fmt: skip
        self._form = form_of(form, layout, self.device)
        noise = jitter * self._like.std(0, correction=0) if jitter else None
        self._feed = Feed(device, batch_size, noise, self._steps_of, partial(_told, loss))
        self._ridge, self._n_rows, self._n_batches, self._rng = ridge, n_rows, n_batches, rng
        self._revivals = {round(share * n_soft) for share in _REVIVALS}
        self._bounds, self._found, self._compare = ((0, n_soft), (n_soft, n_epochs)), found, compare
        self._stage, self._time, self.epoch, self._sizes = 0, 0, 0, []
        if n_soft == 0:
            self._begin_stage(1)

    def _steps_of(self, block):
        self._state.n_slices = slices_of(block.batch, self._state.values)
        return Steps(self._form, self._state, block)

    def _begin_stage(self, stage):
        self._stage = stage
        if stage < 2:
            self._time = self._bounds[stage][0]
            self._state.count.fill_(self._time * self._n_batches)
            self._state.is_hard = stage == 1
            if self._time == self._bounds[stage][1]:
                self._begin_stage(stage + 1)
            else:
                self._feed.renew()

    @property
    def is_over(self):
        return self._stage == 2

    def take(self, Z, targets, row_weight):
        """One step for each mini-batch of a block of scaled rows."""
        self._sizes += self._feed.run(Z, targets, row_weight, self._state.place, self._rng)

    def end_epoch(self, watch):
        """Tell ``watch`` of the averaged trees, after all blocks of an epoch."""
        self.epoch, self._time = self.epoch + 1, self._time + 1
        last = int(self._state.count)
        done = self._state.losses[last - len(self._sizes) : last].double().cpu().numpy()
        total, self._sizes = float(done @ np.asarray(self._sizes)) / self._n_rows, []
        model = self.model()
        is_soft = self._stage == 0
        figures = {}
        if is_soft and self._compare is not None:
            sharpness = float(self._state.schedule[last - 1, 2]) / self._unit()
            figures = self._compare(model, sharpness)
        objective = total + self._penalty()
        watch(Progress(self.epoch, objective, state=model, figures=figures))
        if is_soft and self._time in self._revivals:
            self._revive()
        if self._time == self._bounds[self._stage][1]:
            self._state.values.copy_(self._state.average)
            self._state.packed.copy_(self._state.average)
            self._begin_stage(self._stage + 1)

    def _penalty(self):
        first, last = self.layout.parts[2]
        weights = self._state.average[:, first:last]
        if self._state.center is not None:
            weights = weights - self._state.center[:, first:last]
        return 0.5 * self._ridge * float(weights.double().square().sum())

    def _split_scores(self):
        first, last = self.layout.parts[0]
        return self._like @ self._state.average[: self.layout.width, first:last]

    def _unit(self):
        return max(float(self._split_scores().abs().mean()), 1e-12)

    def model(self):
        if self._found is not None:
            return self._found(self._state.average)
        start = self._starts[0]
        found = models_in(self.layout, self._state.average, start.node_gate, start.weights.dtype)
        return found[0] if len(found) == 1 else found

    def state(self):
        """Arrays by name, and all else that the next blocks depend on as plain values."""
        plain = {name: getattr(self, name) for name in _PLACE}
        return stored(self._state), plain | {"rng": self._rng.bit_generator.state}

    def restore(self, arrays, plain):
        give_back(self._state, arrays)
        for name in _PLACE:
            setattr(self, name, plain[name])
        self._state.is_hard = self._stage == 1
        self._rng.bit_generator.state = plain["rng"]

    def _revive(self):
        """Put splits elsewhere that part nothing, in the trees that have some."""
        layout, node_gate = self.layout, self._starts[0].node_gate
        scores = self._split_scores().view(len(self._like), layout.n_trees, layout.n_splits)
        turns = torch.where(scores > 0.0, 1.0, -1.0)
        n_rows = step.memberships(turns, layout.depth).sum(0)
        n_split = count_splits(layout.depth)
        left = n_rows[:, 1::2]
        least = torch.minimum(left, n_rows[:, :n_split] - left)
        is_dead = (n_rows[:, :n_split] >= _FEWEST) & (least < _DEAD * n_rows[:, :n_split])
        trees = torch.nonzero(is_dead.any(1))[:, 0].tolist()
        if not trees:
            return
        models = models_in(layout, self._state.average, node_gate, np.float32)
        rows = self._like.cpu().numpy()
        # seeds, since children that a generator has spawned are no part of its state
        draws = [np.random.default_rng(one) for one in self._rng.integers(2**31, size=len(trees))]

        def work(place):
            return revive_splits(models[trees[place]], rows, draws[place])

        with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
            found = list(pool.map(with_caller_context(work), range(len(trees))))
        for tree, revived in zip(trees, found):
            for node, direction in revived.items():
                column = tree * layout.n_splits + node
                new = torch.as_tensor(direction, device=self.device).float()
                for part in (self._state.values, self._state.average, self._state.packed):
                    part[: layout.width, column] = new.to(part.dtype)
                self._state.mean[:, column] = 0.0


_PLACE = ("epoch", "_stage", "_time", "_sizes")  # how far training is


def train_tree(
    Z, targets, sample_weight, start, watch, *, C, batch_size, rng, device="cuda", **settings
):
    """Run epochs from ``start``, and tell ``watch`` of the averaged tree after each.

    ``settings`` are those of ``TreeTraining``.
    """
    n_rows, total = Z.shape[0], float(sample_weight.sum())
    batch_size = padded(-(-n_rows // -(-n_rows // batch_size)))
    training = TreeTraining(
        (start,), Z, n_rows=n_rows, n_batches=-(-n_rows // batch_size), ridge=1.0 / (C * total),
        batch_size=batch_size, rng=rng, device=device, **settings,
    )  # fmt: skip
    row_weight = sample_weight * (n_rows / total)
    while not training.is_over:
        training.take(Z, targets, row_weight)
        training.end_epoch(watch)
