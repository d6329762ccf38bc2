"""Training on rows in blocks, from a checkpoint if there is one."""

from dataclasses import dataclass, fields, replace

import numpy as np

from ...._version import __version__
from ....solvers.watch import Progress
from ....streams.checkpoint import Checkpoint

_WITHOUT = ("n_jobs", "verbose", "random_state")  # the same bits whatever they are
_BEST = "best."


@dataclass
class Keeper:
    """Keeps the state of a training in a checkpoint; without one, of no effect."""

    checkpoint: Checkpoint | None
    fit: dict
    seed: int

    @classmethod
    def of(cls, model, rows, checkpoint):
        about = {"version": __version__, "estimator": type(model).__name__}
        settings = model.get_params(deep=False).items()
        about |= {name: _shown(value) for name, value in settings if name not in _WITHOUT}
        return cls(checkpoint, about | rows.fingerprint, rows.seed)

    def resume(self, training, watch):
        """Put both where the checkpoint has them; how many blocks of the epoch are done."""
        found = None if self.checkpoint is None else self.checkpoint.found(self.fit)
        if found is None:
            return 0
        arrays, state = found
        best = {k.removeprefix(_BEST): v for k, v in arrays.items() if k.startswith(_BEST)}
        training.restore(arrays, state["training"])
        watch.history[:] = [Progress(**line) for line in state["history"]]
        watch.best_score, watch._waited = state["best_score"], state["waited"]
        if best:
            watch.best = replace(training.model(), **best)
        return state["blocks"]

    def offer(self, training, watch, n_blocks):
        """Write the state after a block, if it is time."""
        if self.checkpoint is None or not self.checkpoint.is_due():
            return
        arrays, plain = training.state()
        if watch.score is not None and watch.best is not None:
            arrays = arrays | {_BEST + k: v for k, v in _arrays(watch.best).items()}
        history = [
            {one.name: getattr(line, one.name) for one in fields(line) if one.name != "state"}
            for line in watch.history
        ]
        state = {
            "training": plain, "blocks": n_blocks, "history": history,
            "best_score": watch.best_score, "waited": watch._waited,
        }  # fmt: skip
        self.checkpoint.write(self.fit, self.seed, arrays, state)


def train_on_blocks(training, rows, watch, keeper, take=None):
    """Run all epochs of a training; ``take(training, X, targets, weight)`` is its way with a block.

    A Ctrl-C leaves the model as it is then to the watch.
    """
    n_done = keeper.resume(training, watch)
    items, take = rows.lessons(training, type(training).take if take is None else take)
    try:
        while not training.is_over:
            for number, block in enumerate(items(training.epoch), start=1):
                if number > n_done:
                    take(*block)
                    keeper.offer(training, watch, number)
                del block
            n_done = 0
            training.end_epoch(watch)
    except KeyboardInterrupt:
        watch.keep(training.model())
        raise


def _arrays(model):
    """Those of a frozen record of arrays; what else it has, all models of a training share."""
    values = {one.name: getattr(model, one.name) for one in fields(model)}
    return {
        name: np.asarray(value)
        for name, value in values.items()
        if isinstance(value, np.ndarray | float)
    }


def _shown(value):
    """A parameter as text that tells it from others."""
    if isinstance(value, np.ndarray):
        return f"{value.shape} {value.tobytes().hex()[:64]} {value.sum()!r}"
    return repr(value)
