"""Local models for a fixed gate on a device: ``solvers/anchors/fixed_gate.py`` by Newton steps.

The problem and its certificate are those of the CPU. Coordinates one after another are too little
work for a device. Here a step solves (I + Zᵀ B Z) d = v − w, Z being the gated features
γ(x) ⊗ [x; 1], never built, and B the bends of the losses, and goes on to the least of the objective
along d, which costs no further product: scores are linear in the model. Only rows with a bend take
part: where they are few, their matrix is factored, else d comes by conjugate gradients. The hinge
is a sequence of smoothed ones: when enough of the gap lies in the smoothing, its center follows.
Outputs of hinges are problems of their own, with steps of their own, solved side by side.

Products are in float32 until the gap is reached, or hidden by rounding. Then all goes on in
float64; what is found there first is the certificate.
"""

import numpy as np
import torch

from ...losses import Hinge, SquaredHinge
from ...solvers.solution import GatedSolution
from ..machine.factor import Factor
from .blend import GatedRows
from .smoothed import Chances, Margins

_WIDTH, _NARROWER = (
    3.0,
    0.5,
)  # of the smoothing at first, in margins, and what is left when it follows
_SHARE = 1.0  # the center follows when the rest of the gap is at most this part of the smoothing's
_MOST_FREE = 8192  # rows of an output whose matrix is factored
_CLOSE, _MOST_PRODUCTS = 0.3, 60  # residual of a step by gradients, and products spent on it
_TRIALS = 10  # lengths of a step that are tried
_PATIENCE = 20  # steps without a smaller gap: what is left is rounding


def solve_local_models(
    X, indices, codes, targets, *, loss, C, n_components, tol, max_iter, rng, n_jobs, device,
    start=None,
):  # fmt: skip
    """As on the CPU; nothing is drawn here, and ``n_jobs`` means nothing."""

    def put(values):
        return torch.as_tensor(np.asarray(values), dtype=torch.float64, device=device)

    rows = GatedRows(X, indices, codes, n_components, targets.shape[1], device)
    dual = None if start is None or start.dual is None else put(start.dual)
    loss, n_iter = _on_device(loss, put(targets), put(C), dual), 0
    model = torch.zeros(rows.shape, dtype=torch.float64, device=device)
    if start is not None:
        before = np.concatenate([start.weights, start.biases[:, None]], axis=1)
        model = put(np.ascontiguousarray(before.transpose(1, 2, 0)))
    for dtype in (torch.float32, torch.float64):
        rows.dtype = dtype
        model, scores, proof, steps = _descended(rows, loss, model, tol, max_iter - n_iter)
        n_iter += steps
    return _solution(model, loss.dual(scores), proof, n_iter, codes.dtype)


def _on_device(loss, targets, C, dual):
    if isinstance(loss, Hinge | SquaredHinge):
        return Margins(targets, C, isinstance(loss, SquaredHinge), _WIDTH, dual)
    return Chances(targets, C)


def _descended(rows, loss, model, tol, max_iter):
    """A model from ``model`` on, its scores, objectives and gaps of all problems, and steps."""
    scores, n_iter, best, waited = rows.scores(model), 0, torch.inf, 0
    while True:
        slope = model - rows.adjoint(loss.pulls(scores))
        missing, slack = 0.5 * _dots(loss, slope, slope), loss.slack(scores)
        objective = 0.5 * _dots(loss, model, model) + loss.joined(loss.value(scores))
        gap = missing + slack
        is_open = gap > tol * objective
        worst = float((gap / objective).max())
        best, waited = (worst, 0) if worst < 0.99 * best else (best, waited + 1)
        if worst <= tol or n_iter >= max_iter or waited > _PATIENCE:
            return model, scores, (objective, gap), n_iter
        follows = is_open & (missing <= _SHARE * slack)
        if bool(follows.any()):
            loss.follow(scores, follows, _NARROWER)
            slope = model - rows.adjoint(loss.pulls(scores))
        direction = _newton_step(rows, loss, loss.bends(scores), _spread(is_open) * slope)
        change = rows.scores(direction)
        length = _length(loss, model, direction, scores, change)
        model, scores = model + _spread(length) * direction, scores + length * change
        n_iter += 1


def _spread(numbers):
    """Numbers of problems beside models."""
    return numbers[None, :, None]


def _dots(loss, one, other):
    return loss.joined((one * other).sum((0, 2)))


def _newton_step(rows, loss, bends, slope):
    """−(I + Zᵀ B Z)⁻¹ slope, by whichever way is shorter; rows without a bend are left out."""
    is_open = (slope != 0.0).any(2).any(0)
    weights = torch.where(is_open, bends.weights, 0.0)
    counts = (weights != 0.0).sum(0)
    free = (weights != 0.0).any(1).nonzero()[:, 0]
    width, _, n_anchors = rows.shape
    if bends.chances is None and int(counts.max()) <= min(_MOST_FREE, width * n_anchors):
        return _by_rows(rows, weights[free], free, slope)
    return _by_gradients(rows, loss, bends.take(free), free, slope)


def _by_rows(rows, weights, free, slope):
    """The step as Zᵀ (1/B + ZZᵀ)⁻¹ Z slope − slope, with ZZᵀ among the free rows of an output."""
    moved = rows.scores(slope, free)
    shares = torch.zeros_like(moved)
    for output in range(len(weights.T)):
        own = weights[:, output].nonzero()[:, 0]
        if len(own):
            ridge, right = 1.0 / weights[own, output], moved[own, output, None]
            shares[own, output] = Factor(rows.gram(free[own]), ridge).solved(right)[:, 0]
    return rows.adjoint(shares, free) - slope


def _by_gradients(rows, loss, bends, free, slope):
    """The step by conjugate gradients, each problem until it is close."""
    found, left = torch.zeros_like(slope), -slope
    towards, square = left, _dots(loss, left, left)
    enough = _CLOSE**2 * square
    for _ in range(_MOST_PRODUCTS):
        is_open = square > enough
        if not bool(is_open.any()):
            break
        product = towards + rows.adjoint(bends(rows.scores(towards, free)), free)
        length = torch.where(is_open, square / _dots(loss, towards, product), 0.0)
        found = found + _spread(length) * towards
        left = left - _spread(length) * product
        before, square = square, torch.where(is_open, _dots(loss, left, left), square)
        towards = left + _spread(torch.where(is_open, square / before, 0.0)) * towards
    return found


def _length(loss, model, direction, scores, change):
    """The least of the objective along ``direction``: Newton steps between ends that close in."""
    slope, bend = _dots(loss, model, direction), _dots(loss, direction, direction)
    low, high = torch.zeros_like(slope), torch.full_like(slope, torch.inf)
    length = torch.ones_like(slope)
    for _ in range(_TRIALS):
        reached = scores + length * change
        rise = slope + length * bend - loss.joined((loss.pulls(reached) * change).sum(0))
        curve = bend + loss.joined((loss.bends(reached)(change) * change).sum(0))
        low, high = torch.where(rise < 0.0, length, low), torch.where(rise < 0.0, high, length)
        trial = length - rise / curve
        middle = torch.where(high.isinf(), 2.0 * length, 0.5 * (low + high))
        length = torch.where((trial > low) & (trial < high), trial, middle)
    return torch.where(bend > 0.0, length, 0.0)


def _solution(model, dual, proof, n_iter, dtype):
    """Arrays of all outputs, and one record for each problem with its certificate."""
    model = model.cpu().numpy().transpose(2, 0, 1).astype(dtype)
    weights, biases = (np.ascontiguousarray(part) for part in (model[:, :-1], model[:, -1]))
    dual = None if dual is None else dual.cpu().numpy()
    objectives, gaps = (values.tolist() for values in proof)
    parts = [GatedSolution(weights, biases, *one, n_iter) for one in zip(objectives, gaps)]
    return GatedSolution(weights, biases, sum(objectives), sum(gaps), n_iter, dual), parts
