"""One step of Adam on one tree or many: slopes of soft splits and of hard paths.

All directions of all trees are columns of one matrix, so that a step is two matrix products, as for
anchors. The formulas are those of ``solvers/trees/soft.py``; under hard splits the turns are ±1 and
the splits stay. Trees see the same batches, and each has a loss of its own.
"""

from dataclasses import dataclass

import torch

from ..anchors.forms import can_compile
from ..anchors.step import loss_and_slope, padded
from ..device import full_precision, on

UNIT_ROWS = 256  # whose mean distance from the splits is the unit of the sharpness


@dataclass(frozen=True)
class TreeLayout:
    """Columns: splits, slopes (no indicator has any), weights by output, each by tree and node."""

    n_trees: int
    depth: int
    n_outputs: int
    width: int  # columns of scaled rows, the constant among them
    has_slopes: bool
    sigma: float

    @property
    def n_splits(self):
        return 2**self.depth - 1

    @property
    def n_nodes(self):
        return 2 ** (self.depth + 1) - 1

    @property
    def n_rows(self):
        return padded(self.width)

    @property
    def parts(self):
        """Where splits, slopes and weights begin and end."""
        slopes = padded(self.n_trees * self.n_splits)
        n_slopes = self.n_trees * self.n_nodes * self.has_slopes
        weights = slopes + padded(n_slopes)
        last = weights + self.n_outputs * self.n_trees * self.n_nodes
        return (0, self.n_trees * self.n_splits), (slopes, slopes + n_slopes), (weights, last)

    @property
    def n_columns(self):
        return padded(self.parts[2][1])


class TreeState:
    """Tensors that one training has for its whole life, at addresses that stay.

    ``rates`` is the step of every column, ``ridges`` its penalty, which pulls toward ``center``;
    ``schedule`` has (step size, share of the average kept, sharpness) for each step.
    """

    LEARNED = ("values", "mean", "square", "average", "losses", "count", "place", "packed")

    def __init__(self, layout, values, center, rates, ridges, schedule, *, loss, dtype):
        self.layout, self.loss, self.dtype, self.is_hard = layout, loss, dtype, False
        device = values.device
        self.values, self.average, self.center = values, values.clone(), center
        self.mean, self.square = torch.zeros_like(values), torch.zeros_like(values)
        self.rates, self.ridges, self.schedule = rates, ridges, schedule
        self.losses = torch.zeros(len(schedule) + 1, device=device)
        self.count = torch.zeros(1, dtype=torch.int64, device=device)
        self.place = torch.zeros(1, dtype=torch.int64, device=device)
        self.packed = values.to(dtype)
        self.n_slices = 1


def gather(state, block):
    """Rows of the next batch, which end in their constant; targets; shares of the mean loss."""
    layout = state.layout
    slots = torch.arange(block.batch, device=block.rows.device)
    index = state.place * block.batch + slots
    n_left = torch.clamp(block.numbers[0] - state.place * block.batch, max=block.batch)
    chosen = block.order[index].long()
    rows = block.rows[chosen].to(torch.float32)
    if block.noise is not None:
        from ..anchors.step import normal_noise

        seed = block.numbers[1] + state.count * 0x9E3779B9
        columns = torch.arange(rows.shape[1], device=rows.device)
        rows = rows + block.noise * normal_noise(slots[:, None] * layout.n_rows + columns, seed)
    rows = torch.nn.functional.pad(rows, (0, layout.n_rows - rows.shape[1])).to(state.dtype)
    share = torch.where(slots < n_left, block.weight[chosen] / n_left, 0.0)
    return rows, block.labels[chosen], share


def memberships(turns, depth):
    """I_k of all nodes, level by level: left is I (1 + t)/2, right is I (1 − t)/2."""
    level = turns.new_ones(*turns.shape[:2], 1)  # a tree of depth 0 has no turns
    levels = [level]
    for number in range(depth):
        turn = turns[:, :, 2**number - 1 : 2 ** (number + 1) - 1]
        left = level * (0.5 + 0.5 * turn)
        level = torch.stack([left, level - left], -1).flatten(2)
        levels.append(level)
    return torch.cat(levels, 2)


def _parted(layout, product):
    """Products with splits, slopes and weights."""
    n, T, C = len(product), layout.n_trees, layout.n_outputs
    splits, slopes, weights = (product[:, first:last] for first, last in layout.parts)
    slopes = slopes.view(n, T, layout.n_nodes) if layout.has_slopes else None
    return splits.view(n, T, layout.n_splits), slopes, weights.view(n, C, T, layout.n_nodes)


def turns_of(layout, splits, sharpness, is_hard):
    """Turns of the splits and, of soft ones, the sharpness of each tree in the rows' own unit."""
    if is_hard:
        return torch.where(splits > 0.0, 1.0, -1.0), None
    unit = splits[:UNIT_ROWS].abs().mean((0, 2)).clamp_min(1e-12)
    sharpness = (sharpness / unit)[None, :, None]
    return torch.tanh(sharpness * splits), sharpness


def middle(state, product, labels, share):
    """Slopes of the loss in the product, in the precision of products; its value beside them."""
    layout, depth = state.layout, state.layout.depth
    n, T, C = len(product), layout.n_trees, layout.n_outputs
    splits, slopes, local = _parted(layout, product)
    turns, sharpness = turns_of(layout, splits, state.schedule[state.count][0, 2], state.is_hard)
    shares = memberships(turns, depth)
    features = torch.tanh(layout.sigma * slopes) if layout.has_slopes else torch.ones_like(shares)
    gates = shares * features
    scores = (gates[:, None] * local).sum(3)
    each = labels.repeat_interleave(T, 0)
    value, slope = loss_and_slope(state.loss, scores.transpose(1, 2).reshape(n * T, C), each)
    value = value.view(n, T).mean(1)
    slope = slope.view(n, T, C).transpose(1, 2) * share[:, None, None]
    force = (slope[..., None] * local).sum(1)
    out = torch.zeros(product.shape, dtype=state.dtype, device=product.device)
    (s0, s1), (c0, c1), (w0, w1) = layout.parts
    out[:, w0:w1] = (slope[..., None] * gates[:, None]).flatten(1).to(state.dtype)
    if layout.has_slopes:
        found = shares * force * layout.sigma * (1.0 - features * features)
        out[:, c0:c1] = found.flatten(1).to(state.dtype)
    if depth and not state.is_hard:
        own = gates * force
        below, found = own[:, :, 2**depth - 1 :], []
        for number in range(depth - 1, -1, -1):
            nodes = slice(2**number - 1, 2 ** (number + 1) - 1)
            pair, turn = below.reshape(n, T, 2**number, 2), turns[:, :, nodes]
            left, right = pair[..., 0], pair[..., 1]
            found.append(sharpness * (left * (1.0 - turn) - right * (1.0 + turn)))
            below = own[:, :, nodes] + left + right
        out[:, s0:s1] = torch.cat(found[::-1], 2).flatten(1).to(state.dtype)
    return out, (share * value).sum()[None, None]


def update(state, slices, sums):
    """Adam's step of everything that moves; counters go on."""
    size, keep, _ = state.schedule[state.count][0]
    pulled = state.values if state.center is None else state.values - state.center
    slopes = slices.sum(0) + state.ridges * pulled
    mean = 0.9 * state.mean + 0.1 * slopes
    square = 0.999 * state.square + 0.001 * slopes * slopes
    moved = state.values - size * state.rates * mean / (torch.sqrt(square) + 1e-8)
    average = keep * state.average + (1.0 - keep) * moved
    if state.is_hard:  # splits stay, and so does what is known of them
        stays = torch.arange(slopes.shape[1], device=slopes.device) < state.layout.parts[0][1]
        mean = torch.where(stays, state.mean, mean)
        square = torch.where(stays, state.square, square)
        moved = torch.where(stays, state.values, moved)
        average = torch.where(stays, state.average, average)
    state.mean.copy_(mean)
    state.square.copy_(square)
    state.values.copy_(moved)
    state.average.copy_(average)
    state.packed.copy_(moved)
    state.losses[state.count] = sums.sum()
    state.count += 1
    state.place += 1


def hard_scores(layout, values, rows):
    """Scores of rows along hard paths, (n_rows, n_trees, n_outputs), in full precision."""
    with full_precision():
        product = rows @ values[: rows.shape[1]]
    if can_compile(product.device):
        from . import triton_step

        with on(product.device):
            return triton_step.hard_scores(layout, product)
    return plain_scores(layout, product)


def plain_scores(layout, product):
    """``triton_step.hard_scores`` with all nodes evaluated."""
    splits, slopes, local = _parted(layout, product)
    shares = memberships(turns_of(layout, splits, None, True)[0], layout.depth)
    gates = shares * torch.tanh(layout.sigma * slopes) if layout.has_slopes else shares
    return (gates[:, None] * local).sum(3).transpose(1, 2)
