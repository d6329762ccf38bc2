"""A random sample of a stream: which rows stay, and what each of them weighs."""

import numpy as np

# A side has this share of an equal part at least, where so many of its rows have come.
_SMALLEST_PART = 0.25
_LAST = np.uint64(2**64 - 1)


class StreamSample:
    """The rows of a stream whose ids come first in a random order, and how much it has brought.

    The place of an id in that order depends on a seed alone. So every row has the same chance
    whenever it comes, one that has been dropped does not come back, and further passes over the
    same rows leave the sample as it is. Each side (class) is a sample of its own, and none is
    cut to nothing for being rare.

    Parameters
    ----------
    size : int
        Most rows that stay.
    n_sides : int
        Number of classes, 1 where there are none.
    rng : RandomState
        Draws the seed of the order.
    """

    def __init__(self, size, n_sides, rng):
        self.size = size
        self.salt = np.uint64(rng.randint(np.iinfo(np.int64).max, dtype=np.int64))
        self.n_rows = np.zeros(n_sides)
        self.total = np.zeros(n_sides)
        self.limits = np.full(n_sides, _LAST)

    @property
    def is_whole(self):
        """No row has been left out."""
        return bool(np.all(self.limits == _LAST))

    def count(self, sides, weight):
        """Rows have come."""
        self.n_rows += np.bincount(sides, minlength=len(self.n_rows))
        self.total += np.bincount(sides, weight, minlength=len(self.total))

    def admits(self, ids, sides):
        """Rows that come before all that were dropped from their side."""
        return self._keys(ids) < self.limits[sides]

    def choose(self, ids, sides):
        """Which of the stored rows stay, sorted.

        Sides give up rows in turn, those first that have most beyond their part of the stream.
        """
        if len(ids) <= self.size:
            return np.arange(len(ids))
        keys = self._keys(ids)
        parts = self.size * self.n_rows / self.n_rows.sum()
        parts = np.maximum(parts, _SMALLEST_PART * self.size / len(parts))
        beyond = np.zeros(len(ids))
        for side, part in enumerate(parts):
            members = np.flatnonzero(sides == side)
            beyond[members[np.argsort(keys[members], kind="stable")]] = (
                np.arange(len(members)) - part
            )
        order = np.argsort(beyond, kind="stable")
        dropped = order[self.size :]
        np.minimum.at(self.limits, sides[dropped], keys[dropped])
        return np.sort(order[: self.size])

    def weights(self, weight, sides):
        """What stored rows weigh in the machine, given the weight that was sent of each.

        Together at most as much as ``size`` rows of the stream, however many stand behind them:
        so much do they know. Each side has its share of the stream.
        """
        stored = np.bincount(sides, weight, minlength=len(self.total))
        most = self.size * self.total.sum() / self.n_rows.sum()
        if self.is_whole and stored.sum() <= (1.0 + 1e-9) * most:
            return weight
        wanted = min(stored.sum(), most) * self.total / self.total.sum()
        return weight * (wanted / np.where(stored > 0.0, stored, 1.0))[sides]

    def _keys(self, ids):
        """Places in the random order: the ids' bits, well mixed (splitmix64)."""
        bits = ids.astype(np.int64).view(np.uint64) ^ self.salt
        bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return bits ^ (bits >> np.uint64(31))
