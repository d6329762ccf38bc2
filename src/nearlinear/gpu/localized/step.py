"""One step of Adam on learned gates and linear models: softmax, sigmoid, Gaussian.

Everything that is learned lies in one matrix, as for anchors: a product gives the scores of all
gates and the answers of all local models, for every output. The formulas are those of
``gates/learned.py`` and ``solvers/localized/gate.py``; rows whose loss is zero have slopes of zero.
"""

from dataclasses import dataclass

import torch

from ...gates.learned import Columns, GaussianGate, Sigmoid, Softmax, Viewing
from ..anchors.step import LOSSES, adam, loss_and_slope, padded

_WIDEST = 20.0  # beyond e±20 a width is as good as none, or as all


@dataclass(frozen=True)
class GatedLayout:
    """Rows are columns of the data and a constant; columns are gates, models and biases by output.

    In the row of the constant are offsets of linear gates or log widths of Gaussian ones, biases of
    local models, and the bias of each output.
    """

    width: int
    n_outputs: int
    n_components: int
    gate: str  # the name of its class

    @property
    def is_gaussian(self):
        return self.gate == "GaussianGate"

    @property
    def n_rows(self):
        return padded(self.width + 1)

    @property
    def n_models(self):
        return self.n_outputs * self.n_components

    @property
    def first(self):
        """Where the models begin; gates begin at 0."""
        return padded(self.n_models)

    @property
    def last(self):
        """Where the models end and the biases begin."""
        return self.first + self.n_models

    @property
    def n_columns(self):
        return padded(self.last + self.n_outputs)


class GatedState:
    """Tensors that one training has for its whole life, at addresses that stay.

    Rows are multiplied with ``scales`` · ``values``: a scale is the root of what a kernel gives to
    a column, and 0 where nothing is learned. ``units`` has the scale of every Gaussian component.
    ``schedule`` has (step size, share of the average kept) for each step. ``epsilon`` is that of
    the insensitive loss, None for the hinge.
    """

    LEARNED = ("values", "mean", "square", "average", "losses", "count", "place", "packed")

    def __init__(self, layout, values, scales, ridges, units, schedule, *, epsilon):
        self.layout, self.epsilon, device = layout, epsilon, values.device
        self.values, self.average = values, values.clone()
        self.mean, self.square = torch.zeros_like(values), torch.zeros_like(values)
        self.scales, self.ridges, self.units, self.schedule = scales, ridges, units, schedule
        self.losses = torch.zeros(len(schedule) + 1, layout.n_outputs, device=device)
        self.count = torch.zeros(1, dtype=torch.int64, device=device)
        self.place = torch.zeros(1, dtype=torch.int64, device=device)
        self.packed = scales * values
        self.n_slices = 1


def gather(state, block):
    """Rows of the next batch with their constant; what is wanted; shares of the mean loss.

    Rows past the end have the share 0.
    """
    layout = state.layout
    slots = torch.arange(block.batch, device=block.rows.device)
    n_left = torch.clamp(block.numbers[0] - state.place * block.batch, max=block.batch)
    chosen = block.order[state.place * block.batch + slots].long()
    # not by padding with ones: what PyTorch 2.11 compiles then takes the ones for places of rows
    made = torch.zeros(block.batch, layout.n_rows, device=block.rows.device)
    made[:, : layout.width] = block.rows[chosen]
    made[:, layout.width] = 1.0
    share = torch.where(slots < n_left, block.weight[chosen] / n_left, 0.0)
    return made, block.labels[chosen], share


def gate_and_columns(gate, width):
    """The gate behind its view, None if it has no form here; the columns that it sees.

    Columns are None where a function makes them, or one of them is named twice.
    """
    columns = tuple(range(width))
    if isinstance(gate, Viewing):
        columns = gate.view.columns if isinstance(gate.view, Columns) else ()
        gate = gate.gate
    is_known = type(gate) in (Softmax, Sigmoid, GaussianGate)
    are_plain = 0 < len(columns) == len(set(columns))
    return gate if is_known else None, columns if are_plain else None


def gate_values(kind, scores):
    """γ of scores, of which the last axis has the components."""
    if kind == "Sigmoid":
        return torch.sigmoid(scores)
    # not torch.softmax, which PyTorch 2.11 compiles with a warning where components are few
    return torch.exp(scores - torch.logsumexp(scores, -1, keepdim=True))


def squared_distances(products, centers, squared_norms):
    """From rows to the centers of a Gaussian gate, the columns of a matrix."""
    return (squared_norms[:, None] + centers.square().sum(0) - 2.0 * products).clamp_min(0.0)


def narrowness(log_widths, scale):
    """1 / s² of Gaussian components."""
    return torch.exp(-2.0 * log_widths.clamp(-_WIDEST, _WIDEST)) / scale


def _loss(epsilon, scores, wanted):
    """Values and slopes of single outputs; ``wanted`` are signs for the hinge, else values."""
    if epsilon is None:
        shape = scores.shape
        value, slope = loss_and_slope(
            LOSSES["Hinge"], scores.reshape(-1, 1), (wanted > 0).reshape(-1)
        )
        return value.view(shape), slope.view(shape)
    error = scores - wanted
    slack = error.abs() - epsilon
    return slack.clamp_min(0.0), torch.where(slack > 0.0, torch.sign(error), 0.0)


def middle(state, product, wanted, share):
    """Slopes of the loss in the product; beside them the loss of each output and slopes of widths.

    ``wanted`` ends in the squared norm of a row where the gate is Gaussian.
    """
    layout = state.layout
    m, first, last, T = layout.n_models, layout.first, layout.last, layout.n_outputs
    shape = -1, T, layout.n_components
    scores = product[:, :m]
    if layout.is_gaussian:
        squares = squared_distances(scores, state.packed[: layout.width, :m], wanted[:, T])
        narrow = narrowness(state.values[layout.width, :m], state.units)
        scores = -narrow * squares
    gates = gate_values(layout.gate, scores.view(shape))
    local = product[:, first:last].view(shape)
    answers = (gates * local).sum(2) + product[:, last : last + T]
    value, slope = _loss(state.epsilon, answers, wanted[:, :T])
    slope = slope * share[:, None]
    pull = slope[:, :, None] * local  # of γ
    if layout.gate == "Sigmoid":
        pull = pull * gates * (1.0 - gates)
    else:
        pull = gates * (pull - (gates * pull).sum(2, keepdim=True))
    sums = [(share[:, None] * value).sum(0)]
    pull = pull.flatten(1)
    if layout.is_gaussian:
        pull = 2.0 * narrow * pull  # of half a squared distance, downward
        sums.append((pull * squares).sum(0))
    out = torch.zeros_like(product)
    out[:, :m] = pull
    out[:, first:last] = (gates * slope[:, :, None]).flatten(1)
    out[:, last : last + T] = slope
    return out, torch.cat(sums)[None]


def update(state, slices, sums):
    """Adam's step of everything that moves; counters go on."""
    layout = state.layout
    size, keep = state.schedule[state.count][0]
    totals, sums = slices.sum(0), sums.sum(0)
    slopes = state.scales * totals
    if layout.is_gaussian:
        m, D = layout.n_models, layout.width
        slopes[:D, :m] -= state.scales[:D, :m] * totals[D, :m] * state.values[:D, :m]
        slopes[D, :m] = sums[layout.n_outputs :]
    slopes = slopes + state.ridges * state.values
    adam(state.values, state.mean, state.square, state.average, slopes, size, keep)
    state.packed.copy_(state.scales * state.values)
    state.losses[state.count] = sums[None, : layout.n_outputs]
    state.count += 1
    state.place += 1
