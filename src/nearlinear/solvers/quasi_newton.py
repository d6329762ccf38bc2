"""Limited-memory BFGS (Liu and Nocedal 1989), a trial at a time.

A value and a slope cost a pass over all rows, which somebody else makes: the search says which
point to look at next, and is told what was found there. A trial is taken if it is better by enough;
else the next one is nearer, by the slopes at both ends. ``solve`` divides by the Hessian that the
search starts from; all that is left to learn from its last steps is what that lacks.
"""

from dataclasses import dataclass, replace

import numpy as np

_MOST_PAIRS = 6
_ENOUGH = 1e-4  # of the fall that the slope promises
_NEAREST, _FARTHEST = 0.1, 0.6  # a trial that failed is followed by one at such a part of it


@dataclass(frozen=True)
class Search:
    """How far a search has come. ``trial`` is looked at next; ``point`` is the best so far.

    ``trial`` = ``point`` + ``part`` · ``direction``. ``steps`` and ``changes`` are those of points
    and of slopes, latest last. Until a trial was looked at, ``value`` is infinite.
    """

    point: np.ndarray
    trial: np.ndarray
    direction: np.ndarray
    slope: np.ndarray
    value: float = np.inf
    part: float = 0.0
    steps: tuple = ()
    changes: tuple = ()

    @classmethod
    def at(cls, point):
        """A search that looks at a point first."""
        nothing = np.zeros_like(point)
        return cls(point, point, nothing, nothing)

    def takes(self, value):
        """Whether the trial is good enough to go on from, if it has this value."""
        fall = float((self.slope * self.direction).sum())
        return np.isinf(self.value) or value <= self.value + _ENOUGH * self.part * fall


def advance(search, value, slope, solve, first_part=1.0):
    """The search after a look at its trial.

    ``first_part`` is that of the direction that is tried first, before a step was ever taken.
    """
    if not search.takes(value):
        before, now = (float((one * search.direction).sum()) for one in (search.slope, slope))
        part = before / (before - now) if np.isfinite(now) and now > before else 0.0
        part = search.part * float(np.clip(part, _NEAREST, _FARTHEST))
        return replace(search, part=part, trial=search.point + part * search.direction)
    steps, changes = search.steps, search.changes
    if np.isfinite(search.value):
        step, change = search.trial - search.point, slope - search.slope
        if (step * change).sum() > 0.0:
            steps = (*steps, step)[-_MOST_PAIRS:]
            changes = (*changes, change)[-_MOST_PAIRS:]
    search = replace(
        search, point=search.trial, value=value, slope=slope, steps=steps, changes=changes
    )
    return aimed(search, solve, first_part)


def aimed(search, solve, first_part=1.0):
    """The same search with a new direction, by the two loops of L-BFGS, and a new trial."""
    left, factors = search.slope.copy(), []
    pairs = list(zip(search.steps, search.changes, strict=True))
    for step, change in reversed(pairs):
        factors.append((step * left).sum() / (step * change).sum())
        left -= factors[-1] * change
    found = solve(left)
    if pairs:
        step, change = pairs[-1]
        found *= (step * change).sum() / (change * solve(change)).sum()
    for (step, change), factor in zip(pairs, reversed(factors), strict=True):
        found += (factor - (change * found).sum() / (step * change).sum()) * step
    part = 1.0 if pairs else first_part
    return replace(search, direction=-found, part=part, trial=search.point - part * found)


_ARRAYS = ("point", "trial", "direction", "slope")


def search_state(search):
    """Arrays and plain values of a search, for a checkpoint."""
    arrays = {name: getattr(search, name) for name in _ARRAYS}
    for name in ("steps", "changes"):
        arrays |= numbered(name, getattr(search, name))
    value = None if np.isinf(search.value) else search.value
    return arrays, {"part": search.part, "value": value}


def restored_search(arrays, plain):
    """The search of a state."""
    return Search(
        *(arrays[name] for name in _ARRAYS),
        value=np.inf if plain["value"] is None else plain["value"], part=plain["part"],
        steps=tuple(of_numbers("steps", arrays)), changes=tuple(of_numbers("changes", arrays)),
    )  # fmt: skip


def numbered(name, parts):
    """Arrays by name and number."""
    return {f"{name}.{number}": part for number, part in enumerate(parts)}


def of_numbers(name, arrays):
    """What ``numbered`` has named."""
    count = sum(one.startswith(f"{name}.") for one in arrays)
    return [arrays[f"{name}.{number}"] for number in range(count)]
