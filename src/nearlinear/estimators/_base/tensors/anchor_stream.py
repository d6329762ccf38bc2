"""LLC-SAPL that learns on from a stream on a device."""

from dataclasses import replace

import numpy as np
from sklearn.utils import check_random_state

from ....losses import LOSSES
from ..anchor_settings import models_of
from ..anchors import first_predictor, predictor_of
from ..model import Learned
from ..outputs import keeping
from .anchors import require_adam, require_room, setting_of, start_models
from .coordinates import AnchorCoordinates
from .rows import TensorRows, rows_on
from .streams import DeviceStream, n_before


def learn_anchors_there(model, rows, device, loss):
    """LLC-SAPL: steps of Adam on models, anchors, sharpness and metric."""
    if isinstance(rows, TensorRows):
        require_adam(model)
    stream = model._state if isinstance(model._state, DeviceStream) else None
    if stream is None:
        stream = _begin_anchors(model, rows, device, loss)
    there, coordinates = rows_on(device, rows), stream.settings["coordinates"]
    X = coordinates.rows(there.X)
    with keeping("what was learned from the rows so far is") as interruption:
        stream.take(X, there.labels, there.weight, model._usual_C(), _batch(model, there))
    found = coordinates.models(stream.model())
    predictor = predictor_of(found, stream.settings["n_neighbors"])
    return Learned(predictor, state=stream, kept=interruption.kept)


def _batch(model, rows):
    """Smaller than in a fit, since each row is seen once; a GPU has no use for very small ones."""
    if model.batch_size != "auto":
        return model.batch_size
    n_rows, is_cpu = rows.n_rows, rows.X.device.type == "cpu"
    return int(np.clip(n_rows // 64, 16, 128 if is_cpu else max(128, min(512, n_rows // 256))))


def _begin_anchors(model, rows, device, loss):
    """From the fitted model if there is one, else from anchors on the rows of the first call."""
    import torch

    from ....gpu.anchors.adam import sample_of
    from ....gpu.streams import rows_like

    rng, before = check_random_state(model.random_state), getattr(model, "predictor_", None)
    there = rows_on(device, rows)
    setting, coordinates = setting_of(model, there), AnchorCoordinates.of(there)
    require_room(model, there, setting, beside=there.X.nbytes)  # a copy of the rows of a call
    there = replace(there, X=coordinates.rows(there.X))
    if before is None and isinstance(rows, TensorRows):
        generator = torch.Generator(device).manual_seed(int(rng.randint(2**31 - 1)))
        start = start_models(model, there, sample_of(there.X), setting, coordinates, generator)
    else:
        if before is None:
            width = model._local_features(rows.X).shape[1]
            before = first_predictor(model, rows, "soft", width, rng)
        start = coordinates.inside(models_of(before, before.dtype, False))
    settings = {
        "start": start, "like": rows_like(there.X), "coordinates": coordinates,
        "loss": LOSSES[loss], "n_neighbors": min(model.n_neighbors, len(start.anchors)),
        "jitter": setting.jitter, "learning_rate": model.learning_rate,
        "learn_sharpness": model.learn_sharpness, "learn_metric": model.learn_metric,
        "seed": int(rng.randint(2**31 - 1)),
    }  # fmt: skip
    return DeviceStream(_anchors, settings, n_before(model, rows))


def _anchors(device, batch, *, seed, coordinates, **settings):
    from ....gpu.anchors.stream import AnchorStream

    rng = np.random.default_rng(seed)
    return AnchorStream(device=device, batch_size=batch, rng=rng, **settings)
