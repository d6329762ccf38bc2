"""The original schedule of LDKL: mini-batches of √n rows and splits that harden with time.

Facts of the published code: parameters start in U(−1, 1); step t moves each block by r/√t times its
gradient and first shrinks everything by (t − 1)/t; gradients of splits and slopes are taken without
their factors s and σ, so that steps stay bounded while s grows a thousandfold. The three λ of the
paper act only through the steps: r = 1/λ of each block.
"""

import numpy as np

from ...gates.trees.balanced import count_nodes
from ..minibatch import Batches
from ..watch import Progress
from .model import TreeModel
from .soft import SoftPass

_STEPS_PER_UNIT = 100
_UNIT_ROWS = 100
_FIRST_SHARPNESS, _DOUBLINGS = 0.1, 10.0


def start_original(Z, depth, n_outputs, node_gate, rng, *, seen=None):
    """All parameters uniform in (−1, 1); splits and slopes see the last ``seen`` columns."""
    n_nodes, width = count_nodes(depth), Z.shape[1]
    n_split_rows, n_slope_rows = node_gate.direction_rows(n_nodes)
    seen = width if seen is None else seen
    shapes = (n_split_rows, seen), (n_slope_rows, seen), (n_nodes, n_outputs, width)
    return TreeModel(*(rng.uniform(-1, 1, shape).astype(Z.dtype) for shape in shapes), node_gate)


def train_original(
    Z, targets, sample_weight, start, watch, *, loss, n_epochs, learning_rates, rng,
    compare=None, n_jobs=None,
):  # fmt: skip
    """Run ``n_epochs`` from ``start``, and tell ``watch`` of the tree after each.

    ``learning_rates`` are those of splits, slopes and weights.
    """
    row_weight = sample_weight / sample_weight.mean()
    batches = Batches(Z, targets, row_weight, max(1, round(np.sqrt(Z.shape[0]))), rng)
    soft = SoftPass(start, batches.largest)
    model = TreeModel(
        start.splits.copy(), start.slopes.copy(), start.weights.copy(), start.node_gate
    )
    n_steps, step, sharpness = n_epochs * batches.n_batches, 0, 1.0
    inner = getattr(model.node_gate, "sigma", 1.0)
    for epoch in range(1, n_epochs + 1):
        total = 0.0
        for rows, targets_of, share in batches:
            if step % _STEPS_PER_UNIT == 0:
                unit = max(soft.mean_distance(model, rows[:_UNIT_ROWS]), 1e-12)
                sharpness = _FIRST_SHARPNESS / unit * 2.0 ** (_DOUBLINGS * step / n_steps)
            step += 1
            value, gradients = soft.gradients(
                model, rows, targets_of, share, sharpness, loss, n_jobs
            )
            total += value * rows.shape[0] / Z.shape[0]
            arrays = model.splits, model.slopes, model.weights
            factors = sharpness, inner, 1.0
            for array, gradient, factor, r in zip(arrays, gradients, factors, learning_rates):
                rate = r / np.sqrt(step)
                array *= array.dtype.type(1.0 - 1.0 / step)
                array -= array.dtype.type(rate / factor) * gradient
        figures = compare(model, sharpness) if compare else {}
        snapshot = TreeModel(
            model.splits.copy(), model.slopes.copy(), model.weights.copy(), model.node_gate
        )
        watch(Progress(epoch, total, state=snapshot, figures=figures))
