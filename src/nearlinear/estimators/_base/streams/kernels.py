"""Candidate kernels as a stream: read chunk by chunk, learned from, refused, perhaps forgotten.

A candidate is a kernel, or an anchor with all the kernels around it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from ..model import Learned

# Anchors, or kernels without ``chunk_size``, that are read from an iterator at once.
CHUNK = 100


@dataclass(frozen=True)
class Step:
    """What was learned from some candidates, which of them are in use, and how near the others are.

    ``urgency`` is S_m over that of the mixture: what was refused has less than one.
    """

    learned: Learned
    used: np.ndarray
    urgency: np.ndarray


def is_stream(model, candidates):
    """Whether candidates come chunk by chunk: from an iterator, or since some are forgotten."""
    return isinstance(candidates, Iterator) or model.max_refused is not None


def in_chunks(candidates, size):
    """Lists of ``size`` candidates; an iterator is read no further than the one that is due."""
    source = iter(candidates)
    while chunk := list(islice(source, size)):
        yield chunk


@dataclass(frozen=True)
class Seen:
    """What a model has learned, the candidates that it uses, and those that it has refused."""

    learned: Learned
    used: np.ndarray
    refused: np.ndarray


def learn_chunks(chunks, learn, max_refused, seen=None):
    """What ``learn(candidates, learned before)``, a ``Step``, makes of a stream of candidates.

    ``chunks`` are arrays. Each is learned from together with the candidates in use, which come
    first. In the end those that were refused are tried again, at most ``max_refused`` of them
    (None: all), the most urgent ones. The certificate is over all that was seen and not forgotten.
    Ctrl-C keeps what the last whole chunk has left.
    """
    learned, before, used, is_over_all = None, None, None, seen is None
    refused, urgency = None, None
    if seen is not None:
        before, used = seen.learned, seen.used
        refused, urgency = seen.refused[:max_refused], np.ones(len(seen.refused))[:max_refused]
    try:
        for chunk in chunks:
            is_over_all = used is None
            offered = chunk if used is None else np.concatenate([used, chunk])
            step = learn(offered, before)
            learned = before = step.learned
            used = offered[step.used]
            refused, urgency = _most_urgent(refused, urgency, offered, step, max_refused)
            if learned.kept is not None:
                break
        if learned is None:
            raise ValueError("There is no candidate kernel: what gives them is empty.")
        if not is_over_all and learned.kept is None and len(refused):
            learned = learn(np.concatenate([used, refused]), before).learned
    except KeyboardInterrupt:
        if learned is None:
            raise
        learned = replace(learned, kept="what was learned from the kernels so far is")
    return learned


def _most_urgent(refused, urgency, offered, step, count):
    """Refused candidates, those that were refused now among them, and their urgency."""
    new, fresh = offered[~step.used], step.urgency[~step.used]
    if refused is not None:
        new, fresh = np.concatenate([refused, new]), np.concatenate([urgency, fresh])
    kept = np.sort(np.argsort(-fresh, kind="stable")[:count])
    return new[kept], fresh[kept]
