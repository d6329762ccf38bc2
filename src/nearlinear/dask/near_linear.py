"""The front door over Dask collections: a search on a sample, and its winners on all rows.

The search is that of one process, on rows that fit into its memory; every fit of it is a task.
Members of the model that it chooses are then fitted to all rows where their family learns from rows
in blocks: boosted trees as ``LocalForest``, oblique trees as LDKL, anchors as LLC-SAPL. What that
gives is taken where it is better on rows that neither has seen.
"""

from dataclasses import replace
from functools import partial

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state

from .._sklearn import fit_context
from ..estimators.forests.local_forest import LocalForestClassifier, LocalForestRegressor
from ..estimators.ldkl import LDKLClassifier, LDKLRegressor
from ..estimators.llc_sapl import LLCSAPLClassifier
from ..losses import LogLoss, SquaredError
from ..search.candidates import Anchors, Boosted, Trees
from ..search.fitting import fit_table, learned_of
from ..search.trials import Place
from ..streams.blocks import Block
from ..streams.survey import row_ranks
from .fitting import fit_partitions
from .survey import sampled_partitions, starts_of

_JUDGES = 10_000  # rows that say whether the fit to all rows is better, or a tenth of the sample


def fit_search(model, parts, tasks, per_round, log, *, search_rows):
    """Fit a front door; gives what became of each member: its family, and where it was fitted."""
    seed = int(check_random_state(model.random_state).randint(np.iinfo(np.int32).max))
    starts, n_rows = starts_of(parts, tasks)
    block, ranks = sampled_partitions(parts, starts, tasks, search_rows, n_rows, seed)
    if len(ranks) == n_rows:
        _search(model, block, tasks)
        return [(one.candidate.family, "all rows") for one in _chosen(model)[1]]
    n_judges = min(_JUDGES, len(ranks) // 10)
    judges = block.take(np.arange(n_judges))
    _search(model, block.take(np.arange(n_judges, len(ranks))), tasks)
    held = tasks.held((model.encoder_, seed, ranks[n_judges - 1], _dtype(model)))
    prepared = [
        tasks.submit(_prepared, held, part, int(start))
        for part, start in zip(parts, starts, strict=True)
    ]
    return _refit(model, prepared, judges, tasks, per_round, log, seed)


@fit_context(prefer_skip_nested_validation=True)
def _search(model, block, tasks):
    def start(function, *arguments):
        return partial(tasks.results, tasks.submit(function, *arguments))

    return fit_table(model, *block, at=Place(start, tasks.held))


def _chosen(model):
    found = model._state
    return found, [found.members[place] for place in found.blend.places]


def _dtype(model):
    return np.dtype(model.predictor_.dtype)


def _prepared(held, block, row):
    """Encoded rows; those that judge weigh nothing."""
    encoder, seed, bound, dtype = held
    if not block.X.shape[0]:
        return block
    X = block.X if encoder is None else encoder.transform(block.X)
    weight = np.ones(len(block.y)) if block.weight is None else np.asarray(block.weight, float)
    weight = weight * (row_ranks(row, len(weight), seed) > bound)
    return Block(X.astype(dtype), block.y, weight)


def _refit(model, parts, judges, tasks, per_round, log, seed):
    """Put members that all rows make better in the place of those of the sample."""
    found, chosen = _chosen(model)
    members, told = list(found.members), []
    X = judges.X if model.encoder_ is None else model.encoder_.transform(judges.X)
    for place, member in zip(found.blend.places, chosen, strict=True):
        other, where = _streaming(model, member.candidate, seed), "the sample"
        if other is not None:
            fit_partitions(other, parts, tasks, per_round, log)
            before, after = (
                _loss(model, one, X, judges) for one in (member.predictor, other.predictor_)
            )
            if after < before:
                members[place] = replace(member, predictor=other.predictor_)
                where = "all rows"
            else:
                where = "the sample, which all rows made no better"
        told.append((member.candidate.family, where))
    found = replace(found, members=tuple(members))
    learned = learned_of(found, found.blend, model.tried_)
    learned.attributes["encoder_"] = model.encoder_
    model._settle(learned)
    return told


def _streaming(model, candidate, seed):
    """An estimator of a candidate's family and size that learns from partitions, or None."""
    is_classifier = isinstance(model, ClassifierMixin)
    shared = {"random_state": seed, "n_jobs": model.n_jobs}
    if is_classifier:
        shared["class_weight"] = model.class_weight
    if isinstance(candidate, Boosted):
        kind = LocalForestClassifier if is_classifier else LocalForestRegressor
        return kind(
            candidate.n_trees, max_leaves=candidate.max_leaves, pairs=candidate.n_pairs,
            learning_rate=candidate.learning_rate, max_features=candidate.max_features,
            min_samples_leaf=candidate.min_samples_leaf, linear_root=False, leaf_model="constant",
            **shared,
        )  # fmt: skip
    if isinstance(candidate, Trees):
        kind = LDKLClassifier if is_classifier else LDKLRegressor
        depth = "auto" if np.isinf(candidate.depth) else int(candidate.depth)
        return kind(depth, n_trees=1, **shared)
    if isinstance(candidate, Anchors) and is_classifier:
        return LLCSAPLClassifier(candidate.n_anchors, loss="log_loss", **shared)
    return None


def _loss(model, predictor, X, judges):
    """Mean loss of scores that are logarithms of odds, or values."""
    scores = np.asarray(predictor(np.asarray(X, dtype=predictor.dtype)), dtype=np.float64)
    weight = np.ones(len(scores)) if judges.weight is None else judges.weight
    if isinstance(model, ClassifierMixin):
        labels = np.searchsorted(model.classes_, judges.y)
        targets = np.where(labels[:, None] == np.arange(len(model.classes_)), 1.0, -1.0)
        loss, targets = LogLoss(), targets[:, 1:] if scores.shape[1] == 1 else targets
    else:
        loss, targets = SquaredError(), np.asarray(judges.y, dtype=np.float64)[:, None]
    return float(np.average(loss.value(scores, targets), weights=weight))
