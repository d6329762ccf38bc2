"""Rows of a stream on a device: a training that has no end goes on with the rows of each call.

What is minimized is what a fit to all rows so far would minimize, λ = 1 / (C · weight seen). The
number of rows to come is unknown, so no cycle of step sizes can end in time. In its place:

- step t has the length ½ rate / √(1 + t / T), where the rate is the peak of a fit's cycle. Steps
  that shrink as 1/√t are as good on convex losses, up to a constant, as those of one who knows the
  end, and they shrink so slowly that a stream follows a slow drift;
- the average of the last steps is what predicts, after every call: it takes out the noise that a
  cycle's last, short steps would. Step t keeps the share min(0.998, t / (t + 9)) of it, as in a
  fit.

Rows are taken in mini-batches of one size, in a random order within their call; the last, partial
batch is a step, too.
"""

import numpy as np
import torch

from .anchors.adam import sample_of

TABLE = 4096  # steps whose lengths lie on the device at once
_SHARE = 0.5  # of the learning rate, which is the peak of a fit: a cycle's mean is half of it


def rates_from(count, time, n_steps, slowness):
    """(step size with Adam's corrections, share of the average that is kept) of the next steps.

    ``count`` steps were taken since Adam's moments began, and the model is ``time`` steps old: more
    if it was fitted before. After ``slowness`` steps their length is 1/√2 of the first.
    """
    count = count + np.arange(n_steps) + 1.0
    time = time + np.arange(n_steps)
    scale = np.sqrt(1.0 - 0.999**count) / (1.0 - 0.9**count)
    factor = _SHARE / np.sqrt(1.0 + time / slowness)
    return np.column_stack([factor * scale, np.minimum(0.998, (time + 1.0) / (time + 10.0))])


def rows_like(X):
    """Two rows with the means and deviations of the columns of ``X``, as an array.

    They tell a training all that it asks of rows, so that none is kept from call to call.
    """
    some = sample_of(X).double()
    mean, deviation = some.mean(0), some.std(0, correction=0)
    return torch.stack([mean - deviation, mean + deviation]).float().cpu().numpy()


class Endless:
    """What a training does with a stream; it says how long steps are by ``plan``.

    ``plan(count, time, n_batches, ridge)`` writes what the next batches need, for at most ``TABLE``
    steps.
    """

    steps_a_batch = 1

    def go_on(self, X, labels, share, *, ridge, count, time, batch):
        """A step for each mini-batch of some rows; how many batches there were.

        ``share`` are weights in units of their mean. ``count`` and ``time`` are those of
        ``rates_from``, in batches.
        """
        at_once, n_done = batch * (TABLE // self.steps_a_batch), 0
        self._feed.batch = batch
        for first in range(0, len(X), at_once):
            rows = slice(first, first + at_once)
            part, n_batches = X[rows], -(-len(X[rows]) // batch)
            self.plan(count + n_done, time + n_done, n_batches, ridge)
            # the next rows will be written where these lie, so they must not be the user's
            part = part if self._feed.has_room(part) else part.clone()
            self.take(part, labels[rows], share[rows])
            self._feed.forget()
            n_done += n_batches
        return n_done
