"""Figures of a model on rows that it has not seen, before it is fitted to all."""

from dataclasses import dataclass

import numpy as np

from .._errors import CommandError
from ..shown.figures import class_figures, value_figures
from ..tables.target import holds_values


@dataclass(frozen=True, eq=False)
class HeldOut:
    """A model fitted to some rows, the others, their answers, and its figures on these."""

    model: object
    X: object
    y: np.ndarray
    figures: dict


def held_out(model, X, y, arguments, fit):
    """The model tried on rows that it has not seen; None if none shall be held out.

    ``fit(model, X, y, n_rows)`` gives it fitted; ``n_rows`` are held out.
    """
    from sklearn.base import clone, is_classifier
    from sklearn.model_selection import train_test_split

    if not arguments.hold_out:
        return None
    strata = y if is_classifier(model) else None
    if strata is not None:
        _check_rare(y, arguments)
    options = {"test_size": arguments.hold_out, "random_state": arguments.seed}
    try:
        parts = train_test_split(X, y, stratify=strata, **options)
    except ValueError as error:
        raise CommandError(f"{arguments.data}: {error} Give --hold-out 0") from error
    X_train, X_test, y_train, y_test = parts
    tried = fit(clone(model), X_train, y_train, len(y_test))
    figures = value_figures if strata is None else class_figures
    return HeldOut(tried, X_test, y_test, figures(y_test, tried.predict(X_test)))


def _check_rare(y, arguments):
    labels, counts = np.unique(y, return_counts=True)
    if counts.min() > 1:
        return
    if holds_values(y):
        raise CommandError(
            f"{arguments.data}, column {arguments.target or 'y'!r}: it holds {len(labels):,} "
            "different numbers, which is a regression; choose --method LDKLRegressor, or learn "
            "each as a class with --hold-out 0"
        )
    raise CommandError(
        f"{arguments.data}: class {labels[counts.argmin()]!s} has one row, too few to hold any "
        "out; remove the row or give --hold-out 0"
    )
