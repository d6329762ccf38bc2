"""Which models are averaged: greedily, with repeats, a few at most, inside a budget."""

from dataclasses import dataclass

import numpy as np

_STEPS = 8
MOST = 3  # members
_GUARD = 1.0  # standard errors by which an average must be better than the linear model


@dataclass(frozen=True)
class Blend:
    """Places of members, with weights that add up to one."""

    places: tuple
    weights: tuple

    @classmethod
    def of(cls, picks):
        places, counts = np.unique(picks, return_counts=True)
        return cls(tuple(places.tolist()), tuple((counts / counts.sum()).tolist()))

    @classmethod
    def alone(cls, place):
        return cls((place,), (1.0,))

    def answers(self, members):
        return sum(w * members[place] for place, w in zip(self.places, self.weights, strict=True))


def best_blend(answers, judge, prices, budget, linear, excluded=()):
    """The best average inside a budget; the linear model, if affordable, has to be beaten."""
    blend = greedy(answers, judge, prices, budget, excluded=excluded)
    if blend is not None and budget.holds([prices[linear]]):
        blend = guarded(blend, linear, answers, judge)
    return blend


def greedy(answers, judge, prices, budget, most=MOST, excluded=()):
    """The blend that grows by whichever member helps it most; None where nothing is affordable.

    ``answers`` has an array for each member. A member may be taken again, which costs nothing.
    ``excluded`` are places of members that are not taken.
    """
    picks, total, best = [], 0.0, (np.inf, None)
    for _ in range(_STEPS):
        found = {}
        for place, own in enumerate(answers):
            chosen = {*picks, place}
            if place in excluded or len(chosen) > most:
                continue
            if not budget.holds([prices[one] for one in chosen]):
                continue
            found[place] = judge.mean((total + own) / (len(picks) + 1))
        if not found:
            break
        place = min(found, key=found.get)
        picks, total = [*picks, place], total + answers[place]
        if found[place] < best[0]:
            best = found[place], Blend.of(picks)
    return best[1]


def guarded(blend, linear, answers, judge):
    """The blend, or the linear model unless the blend is better by a standard error."""
    if blend.places == (linear,):
        return blend
    gain, error = judge.gain(answers[linear], blend.answers(answers))
    return blend if gain > _GUARD * error else Blend.alone(linear)


def mean_and_error(values, weight, copies):
    """A weighted mean and its standard error; each value stands for so many equal rows."""
    mean = float(np.average(values, weights=weight))
    squares = weight**2 / copies * (values - mean) ** 2
    return mean, float(np.sqrt(squares.sum()) / weight.sum())
