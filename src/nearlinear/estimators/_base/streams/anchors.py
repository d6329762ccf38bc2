"""Anchors as a stream of candidates: each brings a kernel of every bandwidth."""

from collections.abc import Iterator
from copy import copy

import numpy as np
from sklearn.utils import check_random_state

from ..conformal import checked_anchors, learn_kernels, placed_anchors
from ..model import Learned
from .kernels import CHUNK, Seen, Step, in_chunks, is_stream, learn_chunks


def learn_candidates(model, rows, scales, problems, seen=None, added=None):
    """What is learned, the ``Chosen`` of every output, and the candidate anchors of a stream.

    ``added`` are anchors beside those that were ``seen``. A fit to anchors that can be placed anew
    has None for its candidates.
    """
    rng = check_random_state(model.random_state)
    if seen is None and not is_stream(model, model.anchors):
        bank = scales.bank(placed_anchors(model, rows, rng))
        return *learn_kernels(model, rows, bank, problems, rng), None
    if added is None:
        added = model.anchors
        if not isinstance(added, Iterator):
            added = placed_anchors(model, rows, rng)
    stream = _AnchorStream(model, rows, scales, problems, rng)
    learned = stream.learn(added, seen)
    if learned.kept is None and model.refinement is not None:
        learned = stream.step(model, stream.anchors, learned).learned
    return learned, stream.found, stream.anchors


class _AnchorStream:
    """Steps of a search, and what the last one has left."""

    def __init__(self, model, rows, scales, problems, rng):
        self.model, self.rows, self.scales, self.problems = model, rows, scales, problems
        self.rng = rng
        self.found, self.anchors = None, None

    def learn(self, anchors, seen):
        model, n_kernels = copy(self.model), len(self.scales.gammas)
        model.refinement = None  # of the last step alone
        is_whole = not isinstance(anchors, Iterator) and model.max_refused is None
        chunks = in_chunks(anchors, max(1, len(anchors)) if is_whole else CHUNK)
        n_refused = None if model.max_refused is None else model.max_refused // n_kernels
        return learn_chunks(
            (checked_anchors(chunk, self.rows) for chunk in chunks),
            lambda offered, before: self.step(model, offered, before),
            n_refused, seen,
        )  # fmt: skip

    def step(self, model, offered, before):
        """A fit to the kernels around these anchors, from those that ``before`` uses."""
        first = np.sort(np.unique(offered, axis=0, return_index=True)[1])
        anchors = offered[first]
        bank = self.scales.bank(anchors)
        starts = None if before is None else _starts(bank, before)
        if starts is not None and len(starts) != len(self.problems):
            starts = None  # rows of other classes
        learned, self.found = learn_kernels(model, self.rows, bank, self.problems, self.rng, starts)
        self.anchors = anchors
        shape = len(anchors), len(self.scales.gammas)
        urgency, used = np.zeros(len(offered)), np.zeros(len(offered), dtype=bool)
        urgency[first] = np.max([one.urgency for one in self.found], axis=0).reshape(shape).max(1)
        in_use = {row.tobytes() for one in self.found for row in _rows(one.bank.anchors)}
        used[first] = [row.tobytes() in in_use for row in _rows(anchors)]
        return Step(learned, used, urgency)


def seen_anchors(model, rows):
    """What a fitted model has seen: the anchors of its fit, and those that came later."""
    found = getattr(model._state, "anchors", None)
    anchors = found
    if found is None:
        anchors = placed_anchors(model, rows, check_random_state(model.random_state))
    in_use = {row.tobytes() for row in _rows(model.predictor_.anchors)}
    used = np.array([row.tobytes() in in_use for row in _rows(anchors.astype(rows.X.dtype))])
    learned = Learned(model.predictor_, {"kernel_weights_": model.kernel_weights_})
    return Seen(learned, anchors[used], anchors[~used])


def _rows(anchors):
    # zero is added, since −0 is another string of bits
    return np.ascontiguousarray(anchors) + anchors.dtype.type(0)


def _starts(bank, before):
    """Weights that the kernels of a bank had, shape (n_outputs, n_kernels); None if some had none.

    A model in single precision has rounded its bandwidths.
    """
    predictor, dtype = before.predictor, before.predictor.dtype
    anchors = [row.tobytes() for row in _rows(bank.anchors.astype(dtype))]
    gammas = bank.gammas.astype(dtype)
    places = {(anchors[p], g): m for m, (p, g) in enumerate(zip(bank.places, gammas))}
    weights = np.atleast_2d(before.attributes["kernel_weights_"])
    starts = np.zeros((len(weights), len(bank)))
    for k, (row, gamma) in enumerate(zip(_rows(predictor.anchors), predictor.gammas)):
        place = places.get((row.tobytes(), gamma))
        if place is not None:
            starts[:, place] = weights[:, k]
    totals = starts.sum(axis=1, keepdims=True)
    return starts / totals if np.all(totals > 0.0) else None
