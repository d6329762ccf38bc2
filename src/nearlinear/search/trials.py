"""Candidates judged on rows that were held out: folds, nested samples, halving.

Rows below 500 are judged on five folds, below 2,000 on three, below 5,000 on two of four, and more
on a fifth. Everyone is tried on the first part, the better half also on the others. Of many rows a
sample stands for all in the first round, and the better half then sees them all.
"""

from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import NamedTuple

import numpy as np

from .portfolio import LINEAR

_FEWEST, _FEW, _SOME = 500, 2_000, 5_000
_SAMPLE = 20_000
_AT_LEAST = 8  # candidates that see the second round


@dataclass
class Trial:
    """What is known of a candidate: raw scores of the held-out rows of each round."""

    candidate: object
    scores: dict = field(default_factory=dict)  # by round
    seconds: float = 0.0
    cost: object = None
    failure: str | None = None


class Count(NamedTuple):
    """How many fits are done, of how many that are planned by now."""

    done: int
    planned: int

    def __str__(self):
        return f"{self.done} of {self.planned}"


@dataclass(frozen=True)
class Round:
    """``kept`` rows train, ``held`` rows judge; of each row there are so many copies."""

    kept: np.ndarray
    held: np.ndarray
    n_kept: np.ndarray
    n_held: np.ndarray


def rounds_of(rows, copies, rng):
    """Rounds, and whether the first one is a sample of the second.

    Copies of a row are held out as other rows are: new rows will be copies, too.
    """
    dealt = rng.permutation(np.repeat(np.arange(len(copies)), copies))
    dealt = dealt[np.argsort(rows.labels[dealt], kind="stable")]
    n_folds, n_used = _folds(len(dealt))
    found = []
    for number in range(n_used):
        out = _without_last_of_class(dealt[number::n_folds], rows.labels[dealt], rows.labels)
        n_held = np.bincount(out, minlength=len(copies))
        if len(out):
            found.append(_round(copies - n_held, n_held))
    return _with_sample(found, rows, rng)


def _round(n_kept, n_held):
    kept, held = np.flatnonzero(n_kept), np.flatnonzero(n_held)
    return Round(kept, held, n_kept[kept], n_held[held])


def rounds_of_parts(rows, parts, can_judge, n_rows, rng):
    """The same where it is known which rows belong together: a part judges, all others train.

    Of a part, the rows that ``can_judge`` are held out and the others left out. ``n_rows`` says how
    many rounds there are.
    """
    found = []
    for number in range(_folds(n_rows)[1]):
        out = _without_last_of_class(np.flatnonzero(parts == number), rows.labels, rows.labels)
        if can_judge[out].any():
            n_kept, n_held = np.ones((2, len(parts)), dtype=np.intp)
            n_kept[out] = 0
            n_held[np.setdiff1d(np.arange(len(parts)), out[can_judge[out]])] = 0
            found.append(_round(n_kept, n_held))
    return _with_sample(found, rows, rng)


def _with_sample(found, rows, rng):
    """A single round of many rows is played on a sample first; without any, nothing is."""
    if not found:
        raise ValueError("Every class has one row, so that none can be held out: give more rows.")
    if len(found) == 1 and len(found[0].kept) > _SAMPLE:
        whole = found[0]
        some = np.isin(whole.kept, _stratified(whole.kept, rows.labels, _SAMPLE, rng))
        return [replace(whole, kept=whole.kept[some], n_kept=whole.n_kept[some]), whole], True
    return found, False


def _folds(n_rows):
    if n_rows < _FEWEST:
        return 5, 5
    if n_rows <= _FEW:
        return 3, 3
    return (4, 2) if n_rows <= _SOME else (5, 1)


def _without_last_of_class(held, all_labels, labels):
    """Held-out rows, but for those without which nobody would know their class."""
    left = np.bincount(all_labels) - np.bincount(labels[held], minlength=labels.max() + 1)
    return held[left[labels[held]] > 0]


def _stratified(places, labels, count, rng):
    """About ``count`` of the rows, each class in its proportion and at least one of each."""
    places = rng.permutation(places)
    places = places[np.argsort(labels[places], kind="stable")]
    first = np.flatnonzero(np.r_[True, np.diff(labels[places]) != 0])
    chosen = np.linspace(0, len(places) - 1, count).astype(np.intp)
    return places[np.union1d(first, chosen)]


class Trials:
    """All candidates on all rounds, as far as time allows."""

    def __init__(self, rows, copies, candidates, rng, judge_of, clock, n_jobs, tell, rounds=None):
        self.rows, self.copies = rows, copies
        self.clock, self.n_jobs, self.tell = clock, n_jobs, tell
        self.rounds, self.is_nested = rounds or rounds_of(rows, copies, rng)
        self.seeds = rng.randint(np.iinfo(np.int32).max, size=len(self.rounds) + 1)
        self.trials = [Trial(candidate) for candidate in candidates]
        self.judge_of = judge_of
        self.n_done, self.n_better = 0, min(len(self.trials), _half(len(self.trials)))

    @property
    def n_planned(self):
        return len(self.trials) + self.n_better * (len(self.rounds) - 1)

    def run(self):
        """Two rounds of a race; what was done by then stays when Ctrl-C or the clock ends it."""
        self._play(0, self.trials)
        better = self._better_half()
        self.n_better = len(better)
        for number in range(1, len(self.rounds)):
            self._play(number, better)

    def _play(self, number, trials):
        one = self.rounds[number]
        kept, held = self.rows.take(one.kept), self.rows.X[one.held]
        kept = replace(kept, weight=kept.weight * (one.n_kept / self.copies[one.kept]))
        for trial in trials:
            self.n_done += 1
            if trial.failure is None and (not self.clock.is_over or trial.candidate == LINEAR):
                self._try(trial, number, kept, held)

    def _try(self, trial, number, kept, held):
        began = perf_counter()
        try:
            predictor = trial.candidate.fit(kept, int(self.seeds[number]), self.n_jobs)
            scores = predictor(held.astype(predictor.dtype), n_jobs=self.n_jobs)
        except (ValueError, ArithmeticError, MemoryError) as error:
            if trial.candidate == LINEAR:
                raise
            # one family that cannot take these rows does not end the search
            trial.failure = str(error)
            return
        if not np.all(np.isfinite(scores)):
            trial.failure = "its scores are not finite"
            return
        trial.scores[number], trial.cost = scores, predictor.cost
        trial.seconds += perf_counter() - began
        judge = self.judge_of([self.rounds[number]])
        loss = float(judge.mean(judge.answers(trial.candidate, scores)[0]))
        figures = {"fit": Count(self.n_done, self.n_planned), "held-out loss": loss}
        self.tell(describe(trial.candidate), figures)

    def _better_half(self):
        judge = self.judge_of(self.rounds[:1])
        losses = {}
        for place, trial in enumerate(self.trials):
            if 0 in trial.scores:
                losses[place] = judge.mean(judge.answers(trial.candidate, trial.scores[0])[0])
        ranked = sorted(losses, key=losses.get)
        kept = set(ranked[: _half(len(ranked))])
        linear = [p for p in ranked if self.trials[p].candidate.family == "linear"]
        kept |= set(linear[:1]) | {p for p in ranked if self.trials[p].candidate == LINEAR}
        return [trial for place, trial in enumerate(self.trials) if place in kept]

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
        while len(seen) > 1 and 2 * self._n_beside(seen) < self.n_better:
            seen.pop()
        return seen[-1:] if self.is_nested else seen

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
