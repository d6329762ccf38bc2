"""Which candidates are tried, by the size of the problem and by what may be spent.

The list, its settings and the schedule come from a simulation on 29 tables; they are not tuned
further. What must be there are unlike families: smooth ones, a kernel machine, forests, networks.
"""

from .._similar_names import did_you_mean, similar_names
from .candidates import (
    Additive,
    Anchors,
    Bagged,
    Boosted,
    Cells,
    FewSupport,
    Hinges,
    Kernels,
    LocalKernels,
    Tree,
    Trees,
)
from .families import FAMILIES

_N_KNOTS = 7
_MANY_CLASSES = 5
_MOST_KERNEL_ROWS, _MOST_SLOW_KERNEL_ROWS = 15_000, 10_000
_BIG_ROWS, _DEEP_ROWS, _MOST_LOCAL_ROWS = 4_000, 30_000, 2_000
_MOST_TREE_COLUMNS = 400_000
_MOST_AVERAGED_ROWS = 100_000  # more make one oblique tree as steady as an average
_MOST_HINGED_COLUMNS = 2_000
LINEAR = Additive(1.0)  # what all others are held against
SLOW = "local kernels", "cells", "few support rows"  # that a time limit alone brings in


def portfolio(shape, is_sparse, has_budget, has_time=False, families=None):
    """Candidates, cheap ones first; families that are named come with all their sizes."""
    found = [*_smooth(), *_forests(shape), *_kernels(shape), *_networks(shape)]
    if has_budget or families is not None:
        found += _small(shape)
    if has_time:
        found += _quick()
    if has_time or families is not None:
        found += _slow(shape)
    if families is not None:
        found = [one for one in found if one.family in ("linear", *families)]
    found = [one for one in dict.fromkeys(found) if one.takes_sparse or not is_sparse]
    return [one for one in found if not _takes_long(one, shape)]


def _takes_long(candidate, shape):
    """Whether boosting would take minutes: trees of every class on very many columns."""
    n_trees = candidate.n_trees if isinstance(candidate, Boosted) else 0
    return n_trees * shape.n_outputs * shape.n_features > _MOST_TREE_COLUMNS


def require_known(families):
    """Raise an error for a name that is not in ``FAMILIES``."""
    for name in families or ():
        if name not in FAMILIES:
            hint = did_you_mean(map(repr, similar_names(str(name), FAMILIES)))
            raise ValueError(
                f"families must be a list of names from {', '.join(FAMILIES)}; got {name!r}"
                + (f", {hint.strip()}" if hint else ".")
            )


def _smooth():
    yield from (LINEAR, *(Additive(C) for C in (0.01, 0.1, 10.0)))
    yield from (Additive(C, _N_KNOTS) for C in (0.03, 0.3, 3.0))
    yield from (Anchors(16, 1.0, 0.1), Anchors(16, 0.3, 1.0), Anchors(48, 1.0, 0.1))


def _forests(shape):
    has_many = shape.n_outputs >= _MANY_CLASSES and shape.is_classification
    rounds, step = (100, 0.1) if has_many else (200, 0.05)
    yield Boosted(rounds, 16, step)
    yield Boosted(rounds, 16, step, n_pairs=12)
    yield Boosted(rounds, 3, 0.1)
    yield Bagged()
    if shape.n_rows > _BIG_ROWS:
        yield Boosted(rounds * 2, 31, step)
    if shape.n_rows > _DEEP_ROWS:
        yield from (_deep(n) for n in (10, 30))


def _kernels(shape):
    if shape.n_rows <= _MOST_KERNEL_ROWS:
        yield Kernels(1.0)
    if shape.n_rows <= _MOST_SLOW_KERNEL_ROWS:
        yield Kernels(10.0)


def _networks(shape):
    """Without them, a budget could lead to a better model than none; on few rows one size does."""
    if shape.n_features <= _MOST_HINGED_COLUMNS:
        yield Hinges(64, 2)
        if shape.n_rows > _BIG_ROWS:
            yield from (Hinges(16), Hinges(256, 2))


def _small(shape):
    """What a budget asks for: the same families at a fraction of their cost."""
    if shape.n_features <= _MOST_HINGED_COLUMNS:
        yield from (Hinges(16), Hinges(32), Hinges(64))
        if shape.n_rows > _BIG_ROWS:
            yield Hinges(128, 2)
    for n_trees, leaves in ((5, 8), (5, 31), (10, 31), (30, 8), (30, 31), (100, 8)):
        yield Boosted(n_trees, leaves, _step(n_trees), 1.0)
    if shape.n_rows > _BIG_ROWS:
        yield from (Boosted(n, 255, _step(n), 1.0) for n in (5, 10))
        yield Tree(1)
    yield from (Tree(5), Tree(20))
    if shape.n_rows > _DEEP_ROWS:
        yield from (_deep(n) for n in (2, 4, 20))
    yield from (Anchors(100, 1.0, 0.1), Anchors(200, 1.0, 0.1))
    if shape.n_rows > _BIG_ROWS:
        yield from (Anchors(200, 1.0, 1.0), Anchors(500, 1.0, 1.0))
    yield from (Trees(1, depth) for depth in (1, 2, 3))
    yield Trees(1)
    if shape.n_rows <= _MOST_AVERAGED_ROWS:
        yield Trees(3)


def _quick():
    """Additional candidates of a time limit: fast ones, and a tree that needs few columns."""
    yield from (Hinges(16), Boosted(30, 31, _step(30), 1.0), Tree(20))


def _slow(shape):
    """Tried last, where a time limit says how long that may take."""
    if shape.n_outputs == 1 and shape.n_rows <= _MOST_LOCAL_ROWS:
        yield LocalKernels()
    if shape.n_rows <= _MOST_SLOW_KERNEL_ROWS:
        if shape.is_classification:
            yield FewSupport()
        yield Cells()


def _deep(n_trees):
    return Boosted(n_trees, 4095, _step(n_trees), 1.0, n_pairs=24, leaf_penalty=1.0)


def _step(n_trees):
    """Few trees take long steps."""
    return min(1.0, 1.9 / n_trees**0.5, 10.0 / n_trees)
