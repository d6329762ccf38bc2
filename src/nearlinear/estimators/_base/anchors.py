"""What the anchor methods share: anchors from data, gates by name, learning from a stream."""

from dataclasses import dataclass

import numpy as np

from ...gates.anchors import InverseDistance, ReconstructionCodes, SoftAssignment, default_sharpness
from ...gates.clustering import fit_anchors, limit_to_distinct
from ...kernels.row_scales import absolute
from ...losses import LOSSES
from ...predictors.locally_linear import LocallyLinear
from ...solvers.anchors.sgd import RowTrainer
from ...solvers.solution import LocalModels
from .checks import require_memory, row_copies
from .model import Learned, stream_rng
from .outputs import keeping

ANCHORS = property(
    lambda model: model.predictor_.gate.anchors,
    doc="Anchors of the fitted gate, shape (n_anchors, n_features).",
)
SHARPNESS = property(
    lambda model: model.predictor_.gate.sharpness,
    doc="Sharpness of the fitted soft assignment, in the units of the data.",
)


MAX_ANCHORS = 100  # of n_anchors="auto" outside of a search
# Share of the rows on which LLC-SAPL is compared with a linear model.
VALIDATION_FRACTION = 0.1


def fit_kmeans_anchors(rows, n_anchors, rng, max_anchors=MAX_ANCHORS):
    """k-means centers; "auto" is ``max_anchors``, but at most one for ten rows."""
    if n_anchors == "auto":
        n_anchors = max(1, min(max_anchors, rows.X.shape[0] // 10))
    n_anchors = limit_to_distinct(n_anchors, rows.n_distinct, "n_anchors")
    return fit_anchors(rows.X, n_anchors, rng, rows.weight)


def make_gate(anchors, X, n_neighbors, coding="soft", sharpness=1.0):
    """The gate named by ``coding``; its bandwidth is relative to the spread of distances."""
    n_neighbors = int(min(n_neighbors, len(anchors)))
    if coding == "inverse":
        return InverseDistance(anchors, n_neighbors)
    if coding == "reconstruction":
        return ReconstructionCodes(anchors, n_neighbors)
    sharpness = absolute(
        sharpness, lambda value: value * default_sharpness(anchors, n_neighbors, X)
    )
    return SoftAssignment(anchors, n_neighbors, float(sharpness))


def predictor_of(models, n_neighbors):
    """Local models as they predict, by ``n_neighbors`` anchors at most."""
    gate = models.gate(int(min(n_neighbors, len(models.anchors))))
    return LocallyLinear(gate, models.weights, models.biases)


def check_memory(model, X, n_outputs, itemsize, copies, beside=0, advice="lower n_anchors"):
    """Refuse what would not fit; ``copies`` of all local models are held at once.

    ``beside`` is what other rows take, in bytes.
    """
    n_rows, n_features = X.shape
    n_anchors = min(n_rows, MAX_ANCHORS if model.n_anchors == "auto" else model.n_anchors)
    numbers = n_anchors * (n_features + 1) * (n_outputs + 1)
    codes = n_rows * min(model.n_neighbors, n_anchors) * (itemsize + 4)
    dual = n_rows * n_outputs * 24
    size = copies * numbers * itemsize + codes + dual + row_copies(X)
    require_memory(size + beside, advice)


@dataclass(frozen=True)
class AnchorStream:
    """What the next rows of a stream go on from."""

    trainer: RowTrainer
    weight_seen: float
    seed: int


def learn_more(model, rows, *, C, loss, coding, width, anchor_rate, sharpness=1.0):
    """One step for each row; the first call also makes the anchors.

    Local models read the first ``width`` columns. Anchors move by ``anchor_rate``.
    """
    stream = model._state if isinstance(model._state, AnchorStream) else None
    rng, seed = stream_rng(model, None if stream is None else stream.seed)
    before = getattr(model, "predictor_", None)
    if before is None:
        before = first_predictor(model, rows, coding, sharpness, width, rng)
    gate = before.gate
    if stream is None:
        start = LocalModels(
            gate.anchors, getattr(gate, "sharpness", 1.0), before.weights, before.biases,
            getattr(gate, "metric", None),
        )  # fmt: skip
        trainer, weight_seen = RowTrainer.start_from(start, rows.X, C, anchor_rate), 0.0
    else:
        trainer, weight_seen = stream.trainer, stream.weight_seen
    weight_seen += rows.weight.sum()
    with keeping("what was learned from the rows so far is") as interruption:
        trainer.train(
            rows.X, rows.targets.astype(np.float64), rows.weight, gate, loss=LOSSES[loss],
            ridge=1.0 / (C * weight_seen), rng=rng,
        )  # fmt: skip
    found = trainer.model(before.dtype)
    if trainer.anchor_rate > 0:
        gate = found.gate(gate.n_neighbors)
    predictor = LocallyLinear(gate, found.weights, found.biases)
    state = AnchorStream(trainer, weight_seen, seed)
    return Learned(predictor, state=state, kept=interruption.kept)


def first_predictor(model, rows, coding, sharpness, width, rng):
    """Anchors on the first rows of a stream, and models that know nothing yet."""
    n_outputs, dtype = rows.task.n_outputs, rows.X.dtype
    check_memory(model, rows.X, n_outputs, 8, copies=3)
    merged = rows.merged()
    anchors = fit_kmeans_anchors(merged, model.n_anchors, rng)
    return LocallyLinear(
        make_gate(anchors, merged.X, model.n_neighbors, coding, sharpness),
        np.zeros((len(anchors), width, n_outputs), dtype=dtype),
        np.zeros((len(anchors), n_outputs), dtype=dtype),
    )
