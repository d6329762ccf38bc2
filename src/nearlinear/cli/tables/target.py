"""Whether a target holds classes or values, and in which words that is told."""

from dataclasses import dataclass

import numpy as np

from .._errors import CommandError

RULE = """\
A target of text is one of classes. Numbers are values, and learned by a regressor, if any has a
fraction, or if there are more than 20 different ones (or more than a third of the rows) and some
stand in fewer than 10 rows. Two whole numbers are always classes. --task decides otherwise."""
TASKS = ("classification", "regression")
_SHARE = 0.5  # of the rows, from which on so many classes are none


def add_task_argument(parser):
    parser.add_argument(
        "--task", choices=TASKS, help="what the target asks for (default: told from the target)"
    )


def holds_values(y):
    """Whether numbers are values, not classes: the rule of the library."""
    from ...tables.target import holds_values

    return holds_values(y)


@dataclass(frozen=True)
class Task:
    """What a target asks for, and why."""

    is_regression: bool
    reason: str

    @property
    def name(self):
        return TASKS[self.is_regression]


def task_of(y, arguments):
    """The task that was asked for, or that the target asks for."""
    where, asked = f"{arguments.data}, column {arguments.target or 'y'!r}", arguments.task
    are_numbers, count = y.dtype.kind in "fiub", len(np.unique(y.astype(str)))
    if asked == "regression" and not are_numbers:
        raise CommandError(f"{where}: it holds no numbers, and --task regression learns numbers")
    if asked == "classification" and y.dtype.kind == "f" and (y != np.floor(y)).any():
        raise CommandError(
            f"{where}: it holds real numbers, and --task classification learns classes"
        )
    what = "numbers" if are_numbers and y.dtype.kind != "b" else "values"
    reason = f"{arguments.target or 'y'} holds {count:,} different {what}"
    return Task(holds_values(y) if asked is None else asked == "regression", reason)


def check_classes(y, arguments):
    """Refuse classes that nearly each row has to itself."""
    count = len(np.unique(y.astype(str)))
    if count > 2 and count > _SHARE * len(y):
        raise CommandError(
            f"{arguments.data}, column {arguments.target or 'y'!r}: it holds {count:,} different "
            f"classes in {len(y):,} rows, too many to learn; name another --target"
        )
