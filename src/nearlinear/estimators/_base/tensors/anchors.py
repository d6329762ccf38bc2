"""LLC-SAPL from rows that are torch tensors, learned where they lie.

Without a copy, but for rows that float32 would round.
"""

from dataclasses import replace

import numpy as np
from sklearn.utils import check_random_state

from ...._config import get_config
from ....gpu.device import free_bytes
from ....losses import LOSSES
from ....solvers.solution import LocalModels
from ....solvers.watch import Watch
from ..anchor_settings import AnchorSetting, attributes_of
from ..anchors import predictor_of
from ..capacity import given
from ..checks import require_memory
from ..model import Learned
from ..outputs import Teller, keeping
from .coordinates import AnchorCoordinates, copied_bytes


def learn_sapl_from_tensors(model, rows):
    """LLC-SAPL of a given number of anchors, from k-means and local models of zero."""
    import torch

    from ....gpu.anchors.adam import AnchorTraining, sample_of
    from ....gpu.anchors.step import padded

    require_adam(model)
    rng, tell = check_random_state(model.random_state), Teller(model)
    device = rows.X.device
    generator = torch.Generator(device).manual_seed(int(rng.randint(2**31 - 1)))
    setting = setting_of(model, rows)
    require_room(model, rows, setting, copied_bytes(rows.X))
    coordinates = AnchorCoordinates.of(rows)
    train = replace(rows, X=coordinates.rows(rows.X))
    some = sample_of(train.X)
    start = start_models(model, train, some, setting, coordinates, generator)
    n_neighbors = min(model.n_neighbors, len(start.anchors))

    watch = Watch(tell.steps("epoch"), best=start)
    if device.type == "cuda":
        tell("the step is being compiled for the device", {})
    total, n_rows = float(train.weight.sum()), train.n_rows
    batch = padded(-(-n_rows // -(-n_rows // model._batch_size(n_rows, device.type))))
    training = AnchorTraining(
        start, some if coordinates.unit == 1.0 else train.X, n_rows=n_rows,
        n_batches=-(-n_rows // batch), n_neighbors=n_neighbors, loss=LOSSES[setting.loss],
        ridge=1.0 / (setting.C * total), n_epochs=model._epochs(train), batch_size=batch,
        learning_rate=model.learning_rate, jitter=setting.jitter,
        learn_metric=model.learn_metric,
        rng=np.random.default_rng(rng.randint(2**31 - 1)), device=device,
    )  # fmt: skip
    with keeping("the last model is") as interruption:
        share = train.weight * (n_rows / total)
        while not training.is_over:
            training.take(train.X, train.labels, share)
            training.end_epoch(watch)
    predictor = predictor_of(coordinates.models(watch.best), n_neighbors)
    return Learned(predictor, attributes_of(watch, setting, []), kept=interruption.kept)


def require_adam(model):
    """What tensors are learned with; the rest is there for arrays."""
    if model.solver in ("sgd", "printed"):
        raise ValueError(
            f"solver={model.solver!r} needs arrays, but X is a torch tensor: use solver='adam' or "
            "give X as an array."
        )


def setting_of(model, rows):
    """What the user has set, or what is usual: nothing is searched here."""
    is_free = isinstance(model.n_anchors, str)
    usual = {"C": model._usual_C(), "jitter": 0.1} | ({"loss": "log_loss"} if is_free else {})
    settings = usual | given(model, "C", "jitter", "loss")
    n_anchors = max(1, min(100, rows.n_rows // 10)) if is_free else model.n_anchors
    return AnchorSetting(min(n_anchors, rows.n_rows), has_root=False, **settings)


def start_models(model, rows, some, setting, coordinates, generator):
    """k-means anchors, and local models of zero."""
    from ....gpu.clustering import default_sharpness, fit_anchors

    n_features, n_outputs = rows.X.shape[1], rows.task.n_outputs
    weight = rows.weight[:: max(1, -(-len(rows.X) // len(some)))][: len(some)]
    anchors = fit_anchors(some, setting.n_anchors, generator, weight)
    sharpness = default_sharpness(anchors, min(model.n_neighbors, len(anchors)), some)
    width = n_features if model.local_model == "affine" else 0
    zeros = np.zeros((len(anchors), width + 1, n_outputs), dtype=coordinates.dtype)
    anchors = anchors.cpu().numpy().astype(coordinates.dtype)
    return LocalModels(anchors, float(sharpness), zeros[:, :-1], zeros[:, -1])


def require_room(model, rows, setting, beside=0):
    """Refuse what would not fit beside the rows; the products of a batch are the largest part.

    ``beside`` is what else is held, in bytes.
    """
    from ....gpu.anchors.adam import SAMPLE

    n_features, n_columns = rows.X.shape[1], setting.n_anchors * (rows.task.n_outputs + 1)
    batch = model._batch_size(rows.n_rows, rows.X.device.type)
    size = 12.0 * (n_features + 1) * n_columns * 4 + batch * (n_columns * 12 + n_features * 4)
    size += 20.0 * rows.n_rows + beside
    # a sample of rows, which tells how long steps are, as it is and in double precision
    size += 36.0 * min(rows.n_rows, SAMPLE) * n_features
    configured = get_config()["max_memory"]
    limit = free_bytes(rows.X.device) if configured is None else configured
    require_memory(size, "lower n_anchors or batch_size", limit)
