"""The automatic search in a command: its progress, and the effect of Ctrl-C."""

import sys
import time
from contextlib import contextmanager

from .._errors import keeping_the_best
from .._progress import clock, search_bar

_EVERY = 2.0  # seconds between plain lines


def fit_search(model, X, y, *, plain=True, title=""):
    """Fit an automatic search and return it; Ctrl-C ends the command.

    ``title`` is the first part of each progress line.
    """
    from ...search.fitting import fit_table

    with watching(model, plain, title) as tell:
        return fit_table(model, X, y, None, tell)


def fit_search_or_best(model, X, y, *, plain=True, title=""):
    """Fit an automatic search until it ends or Ctrl-C stops it with the best model so far.

    Returns whether Ctrl-C stopped it. Without a model so far, Ctrl-C ends the command.
    """
    from ...search.fitting import fit_table

    return _fit_or_best(model, lambda tell: fit_table(model, X, y, None, tell), plain, title)


def fit_blocks_or_best(model, source, *, plain=True):
    """``fit_search_or_best`` for a source of blocks."""
    from ...search.blocks.fitting import fit_blocks

    return _fit_or_best(model, lambda tell: fit_blocks(model, source, tell=tell), plain, "")


def _fit_or_best(model, fit, plain, title):
    with watching(model, plain, title) as tell, keeping_the_best():
        try:
            fit(tell)
        except KeyboardInterrupt:
            if not hasattr(model, "predictor_"):
                raise
            return True
    return False


@contextmanager
def watching(model, plain, title=""):
    """Give a ``tell(step, figures)`` that shows how far a search has come, on standard error."""
    race, began = _Race(model), time.perf_counter()
    with search_bar() as bar:
        if bar is not None:

            def tell(step, figures):
                label = title + race.label(step, figures)
                left = None
                if model.time_limit is not None:
                    left = max(0.0, model.time_limit - (time.perf_counter() - began))
                bar(race.done, race.planned, label, left)

        elif plain or sys.stderr.isatty():
            told = -_EVERY

            def tell(step, figures):
                nonlocal told
                label, now = title + race.label(step, figures), time.perf_counter()
                if now - told >= _EVERY or "fit" not in figures:
                    told = now
                    line = f"[{race.done}/{race.planned}] {label} ({clock(began)})"
                    print(line, file=sys.stderr, flush=True)

        else:

            def tell(step, figures):
                pass

        yield tell


class _Race:
    """Losses of all candidates by now, of which those on the same held-out rows are compared.

    The first part of the rows judges everyone; while a later one is played, the parts before it do.
    """

    def __init__(self, model):
        self.done, self.planned, self.losses = 0, 1, {}
        is_classifier = hasattr(model, "predict_proba")
        self.sign, self.word = 1.0, "log loss" if is_classifier else "squared error"
        if model.scoring is not None:
            self.sign, self.word = -1.0, model.scoring

    def label(self, step, figures):
        if "fit" not in figures:
            return step
        self.done, self.planned = figures["fit"]
        self.losses.setdefault(step, []).append(figures["held-out loss"])
        n_parts = max(1, max(map(len, self.losses.values())) - 1)
        means = {
            name: sum(found[:n_parts]) / n_parts
            for name, found in self.losses.items()
            if len(found) >= n_parts
        }
        best = min(means, key=means.get)
        family, figure = best.partition(" (")[0], self.sign * means[best]
        where = "on the first part" if n_parts == 1 else f"on {n_parts} parts"
        return f"best {where}: {family}, held-out {self.word} {figure:.4g}"
