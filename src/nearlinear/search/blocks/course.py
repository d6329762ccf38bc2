"""The course of a search on a sample: models are fitted to it, then to all rows in blocks."""

from dataclasses import dataclass, replace
from functools import partial

from ..candidates import Additive, Anchors, Boosted, Hinges, Tree, Trees
from ..found import ALL_ROWS
from .additive import refit_additive
from .anchors import refit_anchors
from .forests import refit_boosted, refit_tree
from .hinges import refit_hinges
from .trees import refit_trees

# What of a fitted model is found anew from all rows, as arrays by field.
_REFITS = {
    Additive: refit_additive,
    Anchors: refit_anchors,
    Hinges: refit_hinges,
    Tree: refit_tree,
}
_WORSE = 2.0  # standard errors by which a fit to all rows may lose on rows that it has seen


@dataclass(frozen=True)
class InBlocks:
    """``held_rows(places)`` are encoded rows that were held out; ``apart()`` and ``growth`` are
    for forests.

    What is chosen is fitted to the sample and, from there, to all rows by sums over blocks. LDKL
    has a way of its own to learn from blocks. What has none stays with the sample.
    """

    rows: object
    n_sample: int
    held_rows: object
    apart: object
    growth: object
    kept: object
    seed: int
    n_jobs: int | None
    checkpoint: object = None  # the path of a file
    every: float = 60.0

    def race(self, trials):
        self.kept.race(trials)

    def fit(self, place, judged, blend, fit, clock):
        """The predictor of a candidate, and words about the rows that it was fitted to.

        Those are all rows for the linear model and for what was chosen.
        """
        candidate, of_sample, found = judged.trials[place].candidate, _sample(self.n_sample), None
        if place in (judged.linear, *blend.places) and not clock.is_spent:
            grow = partial(self._grown, candidate, judged, blend)
            found = self._of_all(place, candidate, fit, grow)
        if found is None:
            return fit(), of_sample
        if self._is_worse(found[0], candidate, judged, place):
            return fit(), f"{of_sample}, as a fit to all was worse"
        return found

    def _of_all(self, place, candidate, fit, grow):
        """The predictor from all rows, or from more of them, and words about them; or None."""
        if isinstance(candidate, Trees) and candidate.n_trees == 1:
            path = None if self.checkpoint is None else f"{self.checkpoint}.{place}"
            found = refit_trees(candidate, self.rows, self.seed, self.n_jobs, path, self.every)
            return found, ALL_ROWS
        if isinstance(candidate, Boosted):
            return self._boosted(place, candidate, grow())
        if type(candidate) not in _REFITS:
            return None
        grown = grow() if isinstance(candidate, Tree) else None
        grown = fit() if grown is None else grown
        refit = partial(
            _REFITS[type(candidate)], candidate, grown, self.rows, self.seed, self.n_jobs
        )
        return replace(grown, **self.kept.member(place, refit)), ALL_ROWS

    def _boosted(self, place, candidate, more):
        """Trees whose leaves were refitted, or as they were grown on more rows than the sample."""
        apart = self.apart()
        if apart is None:
            return None
        grown = candidate.fit(apart.kept, self.seed, self.n_jobs) if more is None else more
        refit = partial(refit_boosted, candidate, grown, apart, self.n_jobs)
        found = self.kept.member(place, refit)
        if found:
            return replace(grown, **found), ALL_ROWS
        return None if more is None else (more, _sample(self.growth.n_rows))

    def _grown(self, candidate, judged, blend):
        """A forest of more rows than the sample has, or None."""
        trials, prices = zip(*((judged.trials[k], judged.prices[k]) for k in blend.places))
        return self.growth.grown(candidate, self.seed, self.n_jobs, trials, prices)

    def _is_worse(self, predictor, candidate, judged, place):
        """On held-out rows, against the fit that was judged there; a stochastic one may be lost."""
        X = self.held_rows(judged.held).astype(predictor.dtype)
        answers, _ = judged.judge.answers(candidate, predictor(X, n_jobs=self.n_jobs))
        gain, error = judged.judge.gain(judged.answers[place], answers)
        return not gain >= -_WORSE * error


def _sample(n_rows):
    return f"a sample of {n_rows:,} rows"
