"""What goes on from call to call of ``partial_fit`` on a device.

What a stream minimizes, how long its steps are and what its average is good for: see
``gpu/streams.py``. A weight counts in units of the mean weight of all rows so far.
"""


class DeviceStream:
    """What the next rows go on from: a training on a device, or what it has learned as arrays.

    ``make(device, batch, **settings)`` makes the training. A pickle has arrays alone, and the next
    call brings them to its device. A model that was fitted to ``n_before`` rows is as old as a
    stream of so many.
    """

    def __init__(self, make, settings, n_before):
        self._make, self.settings = make, settings
        self._n_seen, self._weight_seen, self._age = n_before, float(n_before), 0.0
        self._count, self._room, self._batch = 0, 0, 0
        self._training, self._learned = None, None

    def take(self, X, labels, weight, C, usual_batch):
        """A step for each mini-batch of some rows; batches are those of the longest call so far."""
        if len(X) > self._room:
            self._room, self._batch = len(X), _even(len(X), usual_batch)
        if self._count == 0:
            self._age = self._n_seen / self._batch
        self._n_seen += len(X)
        self._weight_seen += float(weight.double().sum())
        n_batches = self._on(X.device).go_on(
            X, labels, weight * (self._n_seen / self._weight_seen),
            ridge=1.0 / (C * self._weight_seen), count=self._count,
            time=self._age + self._count, batch=self._batch,
        )  # fmt: skip
        self._count += n_batches

    def model(self):
        """The average of the last steps."""
        return self._training.model()

    def _on(self, device):
        if self._training is None or self._training.device != device:
            learned = self._as_arrays()
            self._training = self._make(device, self._batch, **self.settings)
            if learned is not None:
                self._training.restore(*learned)
        return self._training

    def _as_arrays(self):
        return self._learned if self._training is None else self._training.state()

    def __getstate__(self):
        return {**vars(self), "_training": None, "_learned": self._as_arrays()}


def _even(n_rows, usual_batch):
    """Batches that fill a call evenly, in whole tiles of matrix units where they are large."""
    batch = -(-n_rows // -(-n_rows // usual_batch))
    tile = 8 if batch < 256 else 32
    return -(-batch // tile) * tile


def n_before(model, rows):
    """Rows that a fitted model stands for; one from a file does not say, and stands for these."""
    if not hasattr(model, "predictor_"):
        return 0
    return model._training.n_rows or rows.X.shape[0]
