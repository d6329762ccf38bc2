"""One step of Adam on anchors and local models, as three plain functions of tensors.

Everything that is learned lies in one matrix, so that a step is two matrix products: rows × values
gives distances to anchors and answers of all local models, rowsᵀ × slopes all gradients at once.
``gather`` makes the rows of a mini-batch, ``middle`` turns the first product into slopes and
``update`` takes the step. The formulas are those of ``solvers/anchors/adam.py``, with every local
model evaluated: on a device that costs less than finding the few that count.

On the CPU they run as they are and are what tests compare; on CUDA they are compiled, and
``triton_step`` has the same three as kernels.
"""

import math
from dataclasses import dataclass

import torch

LOG_RANGE = 7.0  # a thousandfold either way is a hard or a uniform gate already
_LARGEST = torch.iinfo(torch.int32).max
LOSSES = {"Hinge": 0, "SquaredHinge": 1, "LogLoss": 2, "SquaredError": 3}


@dataclass(frozen=True)
class Layout:
    """Where everything lies: rows are features, a constant and padding; columns are anchors first.

    Column j is anchor j; column ``first`` + c · n_anchors + j is local model (c, j), its bias in
    the row of the constant. ``width`` is the number of features that local models read.
    """

    n_features: int
    n_anchors: int
    n_outputs: int
    width: int

    @property
    def n_rows(self):
        return padded(self.n_features + 1)

    @property
    def first(self):
        return padded(self.n_anchors)

    @property
    def n_models(self):
        return self.n_outputs * self.n_anchors

    @property
    def n_columns(self):
        return self.first + padded(self.n_models)

    def live(self, device):
        """Which entries of the matrix are learned."""
        row = torch.arange(self.n_rows, device=device)[:, None]
        column = torch.arange(self.n_columns, device=device)[None, :]
        anchors = (row < self.n_features) & (column < self.n_anchors)
        models = (row < self.width) | (row == self.n_features)
        return anchors | (models & (column >= self.first) & (column < self.first + self.n_models))


def padded(count, multiple=8):
    """Sizes of which matrix units take whole tiles."""
    return -(-count // multiple) * multiple


class State:
    """Tensors that one training has for its whole life, at addresses that stay.

    ``values``, ``mean``, ``square`` and ``average`` are of the matrix; ``gate`` and its like hold
    log μ and, last, log β. ``packed`` is what rows are multiplied with: μ v for anchors, in the
    precision of products. ``schedule`` has (step size, share of the average kept) for each step,
    and ``count`` says which is next; ``place`` is the batch of the present block.
    """

    def __init__(self, layout, values, gate, center, rates, schedule, *, loss, n_neighbors, dtype):
        self.layout, self.loss, self.n_neighbors, self.dtype = layout, loss, n_neighbors, dtype
        device = values.device
        self.values, self.average, self.center = values, values.clone(), center
        self.mean, self.square = torch.zeros_like(values), torch.zeros_like(values)
        self.gate, self.gate_start, self.gate_average = gate, gate.clone(), gate.clone()
        self.gate_mean, self.gate_square = torch.zeros_like(gate), torch.zeros_like(gate)
        self.rates, self.schedule = rates, schedule
        self.losses = torch.zeros(len(schedule) + 1, device=device)
        self.count = torch.zeros(1, dtype=torch.int64, device=device)
        self.place = torch.zeros(1, dtype=torch.int64, device=device)
        self.live = layout.live(device)
        self.packed = torch.zeros(values.shape, dtype=dtype, device=device)
        self.offsets = torch.zeros(layout.n_anchors, device=device)
        self.n_slices = 1
        pack(self)

    LEARNED = ("values", "mean", "square", "average", "gate", "gate_mean", "gate_square",
               "gate_average", "losses", "count", "place", "packed", "offsets")  # fmt: skip


class Block:
    """Rows on the device in any number type, their labels and weights, and the order they come in.

    A row is ``scale`` · raw. ``numbers`` are (n_rows, seed of the noise); ``noise`` has a deviation
    for each feature, or is None.
    """

    def __init__(self, rows, labels, weight, order, numbers, batch, scale, noise):
        self.rows, self.labels, self.weight, self.order = rows, labels, weight, order
        self.numbers, self.batch, self.scale, self.noise = numbers, batch, scale, noise


def pack(state):
    """What rows are multiplied with, and ½ Σ_d μ_d v_jd² of the rounded anchors.

    Rounding then only moves an anchor a little, and never makes it nearer than it is.
    """
    D, m = state.layout.n_features, state.layout.n_anchors
    metric = torch.exp(state.gate[:D])[:, None]
    packed = state.values.clone()
    packed[:, :m] = 0.0
    packed[:D, :m] = metric * state.values[:D, :m]
    packed[D] = 0.0  # biases are added in full precision
    state.packed.copy_(packed)
    rounded = state.packed[:D, :m].float()
    state.offsets.copy_(0.5 * (rounded * rounded / metric).sum(0))


def normal_noise(index, seed):
    """A normal number for each whole number below 2³², from a hash: the same on every device."""
    word = (index ^ seed) & 0xFFFFFFFF
    word = ((word ^ (word >> 16)) * 0x7FEB352D) & 0xFFFFFFFF
    word = ((word ^ (word >> 15)) * 0x846CA68B) & 0xFFFFFFFF
    word = word ^ (word >> 16)
    first = ((word >> 16).float() + 0.5) / 65536.0
    second = (word & 0xFFFF).float() / 65536.0
    return torch.sqrt(-2.0 * torch.log(first)) * torch.cos(2.0 * math.pi * second)


def gather(state, block):
    """Rows of the next batch with their constant, (batch, n_rows); labels; shares of the mean loss.

    Rows past the end have the share 0.
    """
    D, layout = state.layout.n_features, state.layout
    slots = torch.arange(block.batch, device=block.rows.device)
    index = state.place * block.batch + slots
    n_left = torch.clamp(block.numbers[0] - state.place * block.batch, max=block.batch)
    chosen = block.order[index].long()
    rows = block.rows[chosen].to(torch.float32) * block.scale
    if block.noise is not None:
        seed = block.numbers[1] + state.count * 0x9E3779B9
        columns = torch.arange(D, device=block.rows.device)
        rows = rows + block.noise * normal_noise(slots[:, None] * layout.n_rows + columns, seed)
    made = torch.zeros(block.batch, layout.n_rows, dtype=state.dtype, device=block.rows.device)
    made[:, :D] = rows.to(state.dtype)
    made[:, D] = 1.0
    share = torch.where(slots < n_left, block.weight[chosen] / n_left, 0.0)
    return made, block.labels[chosen], share


def nearest(half_distances, n_neighbors):
    """Which are the smallest of each row: exactly so many, ties going to the first.

    Numbers become whole ones in the same order, whose last bits say which they are.
    """
    n_anchors = half_distances.shape[1]
    low = (1 << max(1, (n_anchors - 1).bit_length())) - 1
    bits = half_distances.contiguous().view(torch.int32)
    keys = bits ^ ((bits >> 31) & _LARGEST)
    keys = (keys & ~low) | torch.arange(n_anchors, dtype=torch.int32, device=keys.device)
    for _ in range(n_neighbors):
        keys = torch.where(keys == keys.amin(1, keepdim=True), _LARGEST, keys)
    return keys == _LARGEST


def loss_and_slope(loss, scores, labels):
    """Values and slopes of a score matrix; a label is a column, or 0 and 1 of the only one.

    Of the squared error labels are values.
    """
    if loss == LOSSES["SquaredError"]:
        error = scores - labels
        return 0.5 * (error * error).sum(1), error
    n_outputs = scores.shape[1]
    columns = torch.arange(n_outputs, device=scores.device)
    is_own = (labels == 1)[:, None] if n_outputs == 1 else labels[:, None] == columns
    if loss == LOSSES["LogLoss"] and n_outputs > 1:
        total = torch.logsumexp(scores, 1, keepdim=True)
        own = torch.where(is_own, scores, 0.0).sum(1)
        return total[:, 0] - own, torch.exp(scores - total) - is_own.float()
    signs = torch.where(is_own, 1.0, -1.0)
    margins = signs * scores
    if loss == LOSSES["LogLoss"]:
        return torch.nn.functional.softplus(-margins).sum(1), -signs * torch.sigmoid(-margins)
    slack = torch.clamp(1.0 - margins, min=0.0)
    if loss == LOSSES["SquaredHinge"]:
        return (slack * slack).sum(1), -2.0 * signs * slack
    return slack.sum(1), torch.where(slack > 0.0, -signs, 0.0)


def middle(state, product, labels, share):
    """Slopes of the loss in the product, in the precision of products; partial sums beside them.

    The sums are (loss, slope of log β), in as many rows as the form likes.
    """
    layout, m = state.layout, state.layout.n_anchors
    first, last = layout.first, layout.first + layout.n_models
    half = state.offsets - product[:, :m]
    is_near = nearest(half, state.n_neighbors)
    half = half - torch.where(is_near, half, math.inf).amin(1, keepdim=True)
    sharpness = torch.exp(state.gate[-1])
    codes = torch.where(is_near, torch.exp(-2.0 * sharpness * half), 0.0)
    codes = codes / codes.sum(1, keepdim=True)
    local = product[:, first:last] + state.values[layout.n_features, first:last]
    local = local.view(-1, layout.n_outputs, m)
    scores = (codes[:, None, :] * local).sum(2)
    value, slopes = loss_and_slope(state.loss, scores, labels)
    slopes = slopes * share[:, None]
    pull = codes * ((slopes[:, :, None] * local).sum(1) - (slopes * scores).sum(1, keepdim=True))
    out = torch.zeros(product.shape, dtype=state.dtype, device=product.device)
    out[:, :m] = (2.0 * sharpness * pull).to(state.dtype)
    out[:, first:last] = (codes[:, None, :] * slopes[:, :, None]).flatten(1).to(state.dtype)
    slope = -2.0 * sharpness * (torch.where(is_near, pull * half, 0.0)).sum()
    return out, torch.stack([(share * value).sum(), slope])[None]


def update(state, slices, sums):
    """Adam's step of everything from the slices of the second product; counters go on."""
    layout, D, m = state.layout, state.layout.n_features, state.layout.n_anchors
    size, keep = state.schedule[state.count][0]
    weight_rate, anchor_rate, sharpness_rate, metric_rate, ridge = state.rates
    totals = slices.sum(0)
    value, slope_of_sharpness = sums.sum(0)
    metric = torch.exp(state.gate[:D])[:, None]
    anchors, weighted, total = state.values[:D, :m], totals[:D, :m], totals[D, :m]
    slope_of_metric = 0.5 * metric[:, 0] * ((2.0 * weighted - total * anchors) * anchors).sum(1)
    slopes = totals.clone()
    slopes[:D, :m] = metric * (weighted - total * anchors)
    is_anchor = torch.arange(layout.n_columns, device=totals.device) < layout.first
    pulled = state.values if state.center is None else state.values - state.center
    slopes = slopes + torch.where(is_anchor, 0.0, ridge) * pulled
    slopes = torch.where(state.live, slopes, 0.0)
    rate = size * torch.where(is_anchor, anchor_rate, weight_rate)
    adam(state.values, state.mean, state.square, state.average, slopes, rate, keep)
    slopes = torch.cat([slope_of_metric, slope_of_sharpness[None]])
    is_sharpness = torch.arange(D + 1, device=totals.device) == D
    rate = size * torch.where(is_sharpness, sharpness_rate, metric_rate)
    low, high = state.gate_start - LOG_RANGE, state.gate_start + LOG_RANGE
    adam(state.gate, state.gate_mean, state.gate_square, state.gate_average, slopes, rate, keep,
         (low, high))  # fmt: skip
    pack(state)
    state.losses[state.count] = value
    state.count += 1
    state.place += 1


def adam(value, mean, square, average, slopes, rate, keep, reach=None):
    mean.copy_(0.9 * mean + 0.1 * slopes)
    square.copy_(0.999 * square + 0.001 * slopes * slopes)
    moved = value - rate * mean / (torch.sqrt(square) + 1e-8)
    average.copy_(keep * average + (1.0 - keep) * moved)
    value.copy_(moved if reach is None else torch.clamp(moved, *reach))
