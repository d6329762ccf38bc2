"""The search as a command runs it: what is seen of it, and what Ctrl-C leaves."""

import sys
import time
from contextlib import contextmanager

from .._errors import keeping_the_best
from .._progress import clock, search_bar

_EVERY = 2.0  # seconds between plain lines


def run_search(model, X, y, *, plain=True, title=""):
    """Fit a front door; gives whether Ctrl-C has cut the search short and the best was kept.

    ``title`` says which search it is, where there are two.
    """
    from ...search.fitting import fit_table

    return _run(model, lambda tell: fit_table(model, X, y, None, tell), plain, title)


def run_search_in_blocks(model, source, *, plain=True):
    """The same for rows in blocks."""
    from ...search.blocks.fitting import fit_blocks

    return _run(model, lambda tell: fit_blocks(model, source, tell=tell), plain, "")


def _run(model, fit, plain, title):
    with watching(model, plain, title) as tell, keeping_the_best():
        try:
            fit(tell)
        except KeyboardInterrupt:
            if not hasattr(model, "predictor_"):
                raise
            return True
    return False


def try_search(model, X, y, *, plain=True):
    """The search before that of all rows; Ctrl-C ends it, and the command."""
    from ...search.fitting import fit_table

    with watching(model, plain, "first search, for the held-out score: ") as tell:
        fit_table(model, X, y, None, tell)
    return model


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
