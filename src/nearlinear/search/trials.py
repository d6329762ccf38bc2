"""Candidates judged on rows that were held out: a race with halving.

Everyone is tried on the first part, the better half also on the others. Of many rows a sample
stands for all in the first round; then the best four, and those that nothing beats in both loss and
cost, see them all.
"""

import warnings
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import NamedTuple

import numpy as np
from scipy.sparse import issparse

from .._compile import announcing, compile_seconds
from ..estimators._base.checks import require_memory
from .front import front
from .portfolio import LINEAR, SLOW

_COPIES = 6  # of the encoded rows that exist at once: folds, orders of columns, pieces
_ONCE = "once on this machine"
_AT_LEAST = 8  # candidates that see the second round
_SAFETY_FACTOR = 1.1  # forecasts of fit times tend to be too short
_UNMEASURED_SAFETY_FACTOR = 2.0  # for families of which no fit has been timed yet
_MIN_TRIALS = 3  # candidates besides the linear model that may be a little late
_OVERHEAD = 0.05  # seconds of a refit beside the fit: its speed is measured
_BEST = 4  # that do where fits to all rows take much longer than those to the sample


@dataclass
class Trial:
    """What is known of a candidate: raw scores of the held-out rows of each round."""

    candidate: object
    scores: dict = field(default_factory=dict)  # by round
    seconds: float = 0.0  # of fits and scores, without compiling
    compile_seconds: float = 0.0
    cost: object = None
    failure: str | None = None
    loss: float = np.inf  # of the last round

    def attempt(self, work, tell):
        """What work gives; None if it fails, which ends the search for the linear model alone."""
        try:
            with announcing(lambda: tell(f"compiling {self.candidate.family}, {_ONCE}", {})):
                return work()
        except (ValueError, ArithmeticError, MemoryError) as error:
            if self.candidate == LINEAR:
                raise
            self.failure = str(error)
            return None


@contextmanager
def without_hints():
    """scikit-learn takes labels that few rows have for values, in every fit of a search anew."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The number of unique classes is", UserWarning)
        yield


def copies_memory(Z):
    """Bytes of the copies of encoded rows that a search needs; MemoryError if it may not."""
    n_bytes = _COPIES * 8 * (Z.nnz if issparse(Z) else np.size(Z))
    require_memory(n_bytes, "give fewer rows")
    return n_bytes


class Place(NamedTuple):
    """Where fits run: ``start(function, *arguments)`` gives what is called for the result.

    ``share(value)`` is an argument that several of them have.
    """

    start: Callable
    share: Callable


HERE = Place(partial, lambda value: value)  # one after the other, each when its result is wanted


def tried(candidate, rows, seed, n_jobs):
    """Scores of held-out rows by a candidate that was fitted to the others, its cost, seconds.

    Seconds of compiling come last, apart from the others.
    """
    start, compiled, (kept, held) = perf_counter(), compile_seconds(), rows
    predictor = candidate.fit(kept, seed, n_jobs)
    scores = predictor(held.astype(predictor.dtype), n_jobs=n_jobs)
    compiled = compile_seconds() - compiled
    return scores, predictor.cost, perf_counter() - start - compiled, compiled


class Count(NamedTuple):
    """How many fits are done, of how many that are planned by now."""

    done: int
    planned: int

    def __str__(self):
        return f"{self.done} of {self.planned}"


class Trials:
    """All candidates on all rounds, as far as time allows.

    ``us_of(family, cost)`` forecasts what a prediction takes, ``pace`` what a fit does; ``at`` is
    the ``Place`` of all fits.
    """

    def __init__(self, contest, candidates, rng, clock, n_jobs, tell, us_of, pace, at):
        self.contest, self.rounds = contest, contest.rounds
        self.pace, self._us_of = pace, us_of
        self.clock, self.n_jobs, self.tell, self.at = clock, n_jobs, tell, at
        self.seeds = rng.randint(np.iinfo(np.int32).max, size=len(self.rounds) + 1)
        self.trials = [Trial(candidate) for candidate in candidates]
        self.n_done, self.n_better = 0, min(len(self.trials), _half(len(self.trials)))

    @property
    def n_planned(self):
        return len(self.trials) + self.n_better * (len(self.rounds) - 1)

    def run(self):
        """Two rounds of a race; what was done by then stays when Ctrl-C or the clock ends it."""
        if self.clock.limit is None:
            self._play(0, self.trials)
        else:
            first = self._quickest_of_each_family()
            self._play(0, first)
            self._play(0, self._by_promise(first))
        better = self._better()
        self.n_better = len(better)
        if self.clock.limit is not None:
            better.sort(key=lambda one: (one.candidate != LINEAR, one.loss))
        for number in range(1, len(self.rounds)):
            # a round without the best candidate would select another one
            if self._has_time(min(better, key=lambda one: one.loss), number):
                self._play(number, better)

    def _quickest_of_each_family(self):
        """Which are first where time may end, so that all families have a turn but slow ones."""
        found = {}
        for trial in sorted(self.trials, key=self._haste):
            if trial.candidate.family not in SLOW:
                found.setdefault(trial.candidate.family, trial)
        return list(found.values())

    def _by_promise(self, first):
        """All others: those of the better half of the families, then the rest, quick ones first."""
        ranked = sorted(first, key=lambda one: one.loss)
        better = {one.candidate.family for one in ranked[: (len(ranked) + 1) // 2]}
        known = {one.candidate for one in first}

        def key(trial):
            family = trial.candidate.family
            return family in SLOW, family not in better, self._haste(trial)

        return sorted((one for one in self.trials if one.candidate not in known), key=key)

    def _haste(self, trial):
        return trial.candidate != LINEAR, self.pace.seconds(trial.candidate)

    def _play(self, number, trials):
        rows, seed = (
            self.at.share(self.contest.parts_of(self.rounds[number])),
            self.seeds[number],
        )
        started = [
            (trial, self.at.start(tried, trial.candidate, rows, int(seed), self.n_jobs))
            for trial in trials
            if trial.failure is None
        ]
        self.n_done += len(trials) - len(started)
        for trial, work in started:
            self.n_done += 1
            # the first round of the linear model alone is always there
            if (trial.candidate == LINEAR and number == 0) or self._has_time(trial, number):
                self._try(trial, number, work)

    def _has_time(self, trial, number):
        """Whether a fit leaves time to refit its candidate, the best one and the linear model."""
        if self.clock.limit is None:
            return True
        best = min(self.trials, key=lambda one: one.loss)
        refits = {LINEAR, trial.candidate, best.candidate}
        seconds = self.pace.seconds(trial.candidate, len(self.rounds[number].kept))
        is_measured = self.pace.is_measured(trial.candidate)
        factor = _SAFETY_FACTOR if is_measured else _UNMEASURED_SAFETY_FACTOR
        is_early = sum(bool(one.scores) for one in self.trials) <= _MIN_TRIALS
        left = self.clock.left_with_grace if is_early else self.clock.left
        return factor * seconds + self.seconds_to_refit(refits) < left

    def seconds_to_refit(self, candidates):
        """Forecast of fits to all training rows, including the measurement of their speed."""
        return sum(_SAFETY_FACTOR * self.pace.seconds(one) + _OVERHEAD for one in candidates)

    def _try(self, trial, number, work):
        done = trial.attempt(work, self.tell)
        if done is None:
            return
        scores, cost, seconds, compiled = done
        trial.compile_seconds += compiled
        if not np.all(np.isfinite(scores)):
            trial.failure = "its scores are not finite"
            return
        trial.scores[number], trial.cost = scores, cost
        trial.seconds += seconds
        self.pace.note(trial.candidate, len(self.rounds[number].kept), seconds)
        judge = self.contest.judge_of([self.rounds[number]])
        trial.loss = float(judge.mean(judge.answers(trial.candidate, scores)[0]))
        figures = {"fit": Count(self.n_done, self.n_planned), "held-out loss": trial.loss}
        self.tell(describe(trial.candidate), figures)

    def _better(self):
        judge = self.contest.judge_of(self.rounds[:1])
        losses = {}
        for place, trial in enumerate(self.trials):
            if 0 in trial.scores:
                losses[place] = judge.mean(judge.answers(trial.candidate, trial.scores[0])[0])
        ranked = sorted(losses, key=losses.get)
        kept = set(ranked[: _half(len(ranked))])
        if self.contest.is_nested:
            # by multiply-adds, too: so trees stay, which gain most by more rows
            costs = [(self._us(self.trials[p]), self.trials[p].cost.times_linear) for p in ranked]
            fronts = (front(list(zip(one, map(losses.get, ranked)))) for one in zip(*costs))
            kept = {*ranked[:_BEST], *(ranked[place] for found in fronts for place in found)}
        linear = [p for p in ranked if self.trials[p].candidate.family == "linear"]
        kept |= set(linear[:1]) | {p for p in ranked if self.trials[p].candidate == LINEAR}
        return [trial for place, trial in enumerate(self.trials) if place in kept]

    def _us(self, trial):
        return self._us_of(trial.candidate.family, trial.cost)

    def finished(self):
        """Trials that saw what counts, with their scores in one array, and those rounds."""
        counted = self._counted()
        found = [
            (trial, np.concatenate([trial.scores[number] for number in counted]))
            for trial in self.trials
            if all(number in trial.scores for number in counted)
        ]
        return found, [self.rounds[number] for number in counted]

    def _counted(self):
        """Rounds that count: all, but for the last ones if few have come so far.

        The linear model has no company there when Ctrl-C or the clock has ended the race.
        """
        seen = sorted(self.trials_of(LINEAR).scores)
        fewest = min(2, self.n_better)
        while len(seen) > 1 and max(fewest, self.n_better / 2) > self._n_beside(seen):
            seen.pop()
        return seen[-1:] if self.contest.is_nested else seen

    def _n_beside(self, seen):
        return sum(all(number in trial.scores for number in seen) for trial in self.trials)

    def trials_of(self, candidate):
        return next(trial for trial in self.trials if trial.candidate == candidate)


def _half(count):
    return max(_AT_LEAST, count // 2)


def describe(candidate):
    """A family and its settings, in words."""
    settings = ", ".join(f"{name} {value}" for name, value in settings_of(candidate).items())
    return f"{candidate.family} ({settings})"


def settings_of(candidate):
    """Numbers by name; what is infinite is no setting."""
    return {name: value for name, value in vars(candidate).items() if np.isfinite(value)}
