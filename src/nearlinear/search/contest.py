"""What candidates are held against each other on: rounds of held-out rows, and their judge."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from sklearn.metrics import check_scoring

from .judging import ClassJudge, ValueJudge
from .rounds import rounds_of


@dataclass(frozen=True)
class Contest:
    """``rounds`` are numbers of rows, of which the first round may be a sample (``is_nested``).

    ``parts_of(round)`` gives the rows that train and the columns of those that judge;
    ``judge_of(rounds)`` says how good scores of the held-out rows of these rounds are;
    ``with_twins(candidates)`` adds further ones that suit these rows.
    """

    rounds: list
    is_nested: bool
    parts_of: Callable
    judge_of: Callable
    with_twins: Callable = list


def contest_of(model, rows, copies, rng, parts, max_rows=None):
    """Of rows that stand for so many ``copies`` each; ``max_rows`` is that of the first round."""
    rounds = rounds_of(rows, copies, rng, max_rows)
    return Contest(*rounds, parts, judge_of(model, rows, copies))


def parts_of(rows, copies):
    """Training rows and held-out rows of a round, where all have been encoded before."""

    def parts(one):
        kept = replace(rows.take(one.kept), weight=weight_of(rows, copies, one))
        return kept, rows.X[one.held]

    return parts


def weight_of(rows, copies, one):
    """Of the training rows of a round, in which some of their copies may be held out."""
    return rows.weight[one.kept] * (one.n_kept / copies[one.kept])


def judge_of(model, rows, copies):
    """The judge of held-out rows, by log loss or squared error or by the scorer of a model."""
    is_classification = hasattr(rows.task, "classes")
    scorer = None if model.scoring is None else check_scoring(model, scoring=model.scoring)

    def judge(rounds):
        held = np.concatenate([one.held for one in rounds])
        times = np.concatenate([one.n_held for one in rounds])
        weight = rows.weight[held] * (times / copies[held])
        if is_classification:
            classes = rows.task.classes
            return ClassJudge(rows.labels[held], weight, len(classes), scorer, classes, times)
        return ValueJudge(rows.targets[held], weight, scorer, times)

    return judge
