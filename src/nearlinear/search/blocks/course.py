"""The course of a search on a sample: models are fitted to it, then to all rows in blocks."""

from dataclasses import dataclass, replace

from ..candidates import Additive, Anchors, Hinges, Trees
from ..found import ALL_ROWS
from .additive import refit_additive
from .anchors import refit_anchors
from .hinges import refit_hinges
from .trees import refit_trees

# What of a fitted model is found anew from all rows, as arrays by field.
_REFITS = {Additive: refit_additive, Anchors: refit_anchors, Hinges: refit_hinges}
_WORSE = 2.0  # standard errors by which a fit to all rows may lose on rows that it has seen


@dataclass(frozen=True)
class InBlocks:
    """``held_rows(places)`` are encoded rows that were held out."""

    rows: object
    n_sample: int
    held_rows: object
    kept: object
    seed: int
    n_jobs: int | None
    checkpoint: object = None  # the path of a file
    every: float = 60.0

    def race(self, trials):
        self.kept.race(trials)

    def fit(self, place, judged, fit, clock):
        """The predictor of a candidate, and words about the rows that it was fitted to."""
        candidate, of_sample = judged.trials[place].candidate, f"a sample of {self.n_sample:,} rows"
        if clock.is_spent or not self._streams(candidate):
            return fit(), of_sample
        if isinstance(candidate, Trees):
            path = None if self.checkpoint is None else f"{self.checkpoint}.{place}"
            found = refit_trees(candidate, self.rows, self.seed, self.n_jobs, path, self.every)
        else:
            found = fit()

            def refit():
                work = _REFITS[type(candidate)]
                return work(candidate, found, self.rows, self.seed, self.n_jobs)

            found = replace(found, **self.kept.member(place, refit))
        if self._is_worse(found, candidate, judged, place):
            return fit(), f"{of_sample}: a fit to all was worse"
        return found, ALL_ROWS

    def _streams(self, candidate):
        if isinstance(candidate, Trees):
            return candidate.n_trees == 1
        return type(candidate) in _REFITS

    def _is_worse(self, predictor, candidate, judged, place):
        """On held-out rows, against the fit that was judged there; a stochastic one may be lost."""
        X = self.held_rows(judged.held).astype(predictor.dtype)
        answers, _ = judged.judge.answers(candidate, predictor(X, n_jobs=self.n_jobs))
        gain, error = judged.judge.gain(judged.answers[place], answers)
        return not gain >= -_WORSE * error
