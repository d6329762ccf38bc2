"""Anchors and local models that learn on from a stream, on a device."""

from ..streams import TABLE, Endless, rates_from
from .adam import AnchorTraining

_SLOWNESS = 1000  # steps after which their length is 1/√2 of the first


class AnchorStream(Endless, AnchorTraining):
    """Steps of Adam without an end; ``plan`` says how long the next ones are."""

    def __init__(self, start, like, **settings):
        super().__init__(start, like, n_rows=1, n_batches=TABLE, n_epochs=1, ridge=0.0, **settings)

    def plan(self, count, time, n_batches, ridge):
        """Step sizes and the penalty of the next batches."""
        table, state = rates_from(count, time, n_batches, _SLOWNESS), self._state
        state.schedule[:n_batches] = self._tensor(table)
        state.rates[4] = ridge
        state.count.zero_()
        self._count, self._sizes = 0, []
