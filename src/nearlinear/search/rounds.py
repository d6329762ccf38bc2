"""Rows that are held out: folds, nested samples.

Rows below 500 are judged on five folds, below 2,000 on three, below 5,000 on two of four, and more
on a fifth. Of many rows a sample stands for all in the first round, a smaller one if the time is
limited.
"""

from dataclasses import dataclass, replace

import numpy as np

_FEWEST, _FEW, _SOME = 500, 2_000, 5_000
_SAMPLE, _FEWEST_SAMPLED, _CELLS = 20_000, 5_000, 4_000_000


@dataclass(frozen=True)
class Round:
    """``kept`` rows train, ``held`` rows judge; of each row there are so many copies."""

    kept: np.ndarray
    held: np.ndarray
    n_kept: np.ndarray
    n_held: np.ndarray


def rounds_of(rows, copies, rng, max_rows=None):
    """Rounds, and whether the first one is a sample of the second, of at most ``max_rows`` rows.

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
    return _with_sample(found, rows, rng, max_rows)


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


def _with_sample(found, rows, rng, max_rows=None):
    """A single round of many rows is played on a sample first; without any, nothing is."""
    if not found:
        raise ValueError("Every class has one row, so that none can be held out: give more rows.")
    n_rows = int(np.clip(_CELLS // max(1, rows.X.shape[1]), _FEWEST_SAMPLED, _SAMPLE))
    is_large = len(found) == 1 and len(found[0].kept) > max(n_rows, _SAMPLE)
    if max_rows is not None and len(found) == 1 and len(found[0].kept) > 2 * max_rows:
        n_rows, is_large = max_rows, True
    if is_large:
        whole = found[0]
        some = np.isin(whole.kept, stratified(whole.kept, rows.labels, n_rows, rng))
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


def stratified(places, labels, count, rng):
    """About ``count`` of the rows, each class in its proportion and at least one of each."""
    places = rng.permutation(places)
    places = places[np.argsort(labels[places], kind="stable")]
    first = np.flatnonzero(np.r_[True, np.diff(labels[places]) != 0])
    chosen = np.linspace(0, len(places) - 1, count).astype(np.intp)
    return places[np.union1d(first, chosen)]
