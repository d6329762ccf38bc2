"""LLC-SAPL from rows in blocks.

What need not be exact comes from a sample: k-means, the sharpness, the models that training starts
from. Training sees all rows.
"""

from dataclasses import replace

import numpy as np
from scipy.sparse import issparse

from ....gpu.device import batch_on, on_device
from ....losses import LOSSES
from ....solvers.anchors.adam import AnchorTraining
from ....solvers.anchors.objective import training_objective
from ....solvers.anchors.sgd import RowTraining, usual_anchor_rate
from ....solvers.watch import Progress, Watch
from ..anchor_settings import attributes_of
from ..anchors import VALIDATION_FRACTION, check_memory, predictor_of
from ..model import Learned
from ..outputs import Teller, keeping
from .memory import SMALLER_BLOCKS
from .training import train_on_blocks


def learn_sapl_from(model, rows, keeper):
    """LLC-SAPL; a ``Learned`` of 100 anchors, or of a linear model if that is as good."""
    tell, rng = Teller(model), np.random.RandomState(rows.seed)
    is_checked = model.local_model == "affine" and not model._is_given()
    held_out, sample = None, rows.sample()
    if is_checked:
        rows, held_out = rows.split(VALIDATION_FRACTION)
        sample = rows.sample()
    _check_memory(model, rows, sample, sample.X.dtype.itemsize, copies=7)
    if model._engine(sample) == "printed":
        raise ValueError("solver='printed' needs all rows at once: give 'adam' or 'sgd'.")
    if model._engine(sample) == "adam" and issparse(sample.X):
        raise ValueError("solver='adam' needs dense rows; use solver='sgd' for sparse X.")
    setting, tried = model._choose_setting(sample, rng, tell)
    start = model._start(sample, setting, rng)
    n_neighbors = min(model.n_neighbors, len(start.anchors))
    watch = Watch(tell.steps("epoch"))
    C, loss = model._weight_of_losses(sample, setting), LOSSES[setting.loss]

    def objective(found):
        """On the sample; the penalty is that of all rows."""
        share = C * rows.total_weight / sample.weight.sum()
        return training_objective(
            sample.X, sample.targets, sample.weight, found, n_neighbors, loss, share
        )

    watch(Progress(0, objective(start), state=start))
    n_epochs = model._epochs(sample)
    ridge, generator = 1.0 / (C * rows.total_weight), np.random.default_rng(rows.seed)
    if model._engine(sample) == "adam":
        usual = model._batch_size(rows.n_rows)
        batch = batch_on(model.device, rows.rows_a_step(usual))
        make = on_device(model.device, AnchorTraining)
        training = make(
            start, sample.X, n_rows=rows.n_rows, n_batches=rows.count_batches(batch),
            n_neighbors=n_neighbors, loss=loss, ridge=ridge, n_epochs=n_epochs, batch_size=batch,
            learning_rate=model.learning_rate * np.sqrt(usual / batch), jitter=setting.jitter,
            learn_metric=model.learn_metric, rng=generator,
        )  # fmt: skip
    else:
        training = RowTraining(
            start, sample.X, start.gate(n_neighbors), objective, n_rows=rows.count_batches(1),
            loss=loss, C=C, ridge=ridge, n_epochs=n_epochs,
            anchor_rate=usual_anchor_rate(sample.X), rng=generator,
        )  # fmt: skip
    with keeping("the last model is") as interruption:
        train_on_blocks(training, rows, watch, keeper)
    predictor = predictor_of(watch.best, n_neighbors)
    if is_checked and held_out is not None:
        whole = replace(sample, n_all=None)
        setting, predictor, tried = model._or_linear(
            setting, predictor, whole, whole, held_out, rng
        )
    return Learned(predictor, attributes_of(watch, setting, tried), kept=interruption.kept)


def _check_memory(model, rows, sample, itemsize, copies):
    """Refuse models that do not fit beside the blocks and the sample."""
    advice, n_outputs = f"lower n_anchors, or {SMALLER_BLOCKS}", sample.task.n_outputs
    check_memory(model, sample.X, n_outputs, itemsize, copies, rows.memory, advice)
