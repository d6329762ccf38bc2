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

    ``parts_of(round)`` gives the rows that train and the numbers of those that judge, encoded;
    ``judge_of(rounds)`` says how good scores of the held-out rows of these rounds are.
    """

    rounds: list
    is_nested: bool
    parts_of: Callable
    judge_of: Callable


def contest_of(model, rows, copies, rng):
    """Rows that stand for so many ``copies`` each are held out as they come."""
    rounds, is_nested = rounds_of(rows, copies, rng)
    return Contest(rounds, is_nested, parts_of(rows, copies), judge_of(model, rows, copies))


def parts_of(rows, copies):
    """Training rows and held-out rows of a round, where all have been encoded before."""

    def parts(one):
        kept = rows.take(one.kept)
        weight = kept.weight * (one.n_kept / copies[one.kept])
        return replace(kept, weight=weight), rows.X[one.held]

    return parts


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
