"""What a report is about: a fitted model, what comes before it, and the rows that judge it."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import issparse
from sklearn.base import ClassifierMixin
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted

from .._cached import cached_property
from ..estimators._base.input import scored_rows
from ..preparation.transformers import NoPreparation, preparation_of_steps
from .rows import Rows

CLASSES, VALUES = "classes", "values"


@dataclass(frozen=True, eq=False)
class Whole:
    """A model and the steps before it, which take raw rows."""

    model: object
    preparation: object = None

    @classmethod
    def of(cls, model):
        """Of a model or of a pipeline that ends in one."""
        if isinstance(model, Pipeline):
            first = None if len(model) == 1 or model[0] == "passthrough" else model[:-1]
            return cls(model[-1], first)
        return cls(model)

    def prepared(self, X):
        """Rows as the model takes them."""
        return X if self.preparation is None else self.preparation.transform(X)

    def predict(self, X):
        return self.model.predict(self.prepared(X))

    def scores(self, X):
        """Shape (n_rows, n_outputs), in double precision."""
        return self.model._scores(self.prepared(X)).astype(np.float64)

    def encoded(self, X):
        """Rows as the predictor takes them."""
        return scored_rows(self.model, self.prepared(X))

    def explain(self, X):
        """Contributions of raw columns; where these are scaled, in the units of the model.

        In raw units a column that is far from 0 would add much to every row.
        """
        if self.preparation is None or self.table is None or not self.table.only_scales:
            return self.model.explain(X, n_support=0, preparation=self.preparation)
        found = self.model.explain(self.prepared(X), n_support=0)
        names = getattr(self.preparation, "feature_names_in_", None)
        return replace(found, feature_names=None if names is None else tuple(map(str, names)))

    def probabilities(self, scores):
        """Of classes, from scores; None where there are none."""
        if not self.gives_probabilities:
            return None
        return self.model._outcome.probabilities([scores])

    @property
    def gives_probabilities(self):
        return hasattr(self.model, "predict_proba")

    @cached_property
    def table(self):
        """All that comes before the predictor as one table; None where no table holds it."""
        behind = self.model._behind(self.preparation)
        try:
            return None if behind is None else preparation_of_steps([behind])
        except NoPreparation:
            return None

    @property
    def is_centered(self):
        """Whether an encoder has centered columns, so that contributions speak for themselves."""
        return self.table is not None and not self.table.is_affine

    @property
    def is_bare(self):
        """Whether the predictor takes raw rows."""
        return self.model._behind(self.preparation) is None

    @property
    def pipeline(self):
        """What ``save`` takes."""
        if self.preparation is None:
            return self.model
        return make_pipeline(self.preparation, self.model)


@dataclass(frozen=True, eq=False)
class Subject:
    """A model, and rows with their answers; ``judge`` is a model that has not seen these rows.

    The judge is the model itself where that has not seen them.
    """

    whole: Whole
    judge: Whole
    rows: Rows
    y: np.ndarray
    names: dict  # "target", "data", "file" (of the model), "title": what people call them

    @property
    def model(self):
        return self.whole.model

    @property
    def encoder(self):
        """What makes numbers of the columns, or None."""
        found = getattr(self.model, "encoder_", None)
        if found is None and self.whole.preparation is not None:
            found = self.whole.preparation
            found = found[0] if hasattr(found, "steps") else found
        return found

    @property
    def has_dates(self):
        """Whether it looks at dates, for which ONNX and C have no place."""
        columns = getattr(self.encoder, "columns_", None) or ()
        return any(c["kind"] == "date" and not c["done"].startswith("dropped") for c in columns)

    @property
    def task(self):
        return CLASSES if isinstance(self.model, ClassifierMixin) else VALUES

    @cached_property
    def classes(self):
        """Labels as plain values, or None."""
        return self.model.classes_.tolist() if self.task == CLASSES else None

    @cached_property
    def encoded(self):
        return self.whole.encoded(self.rows.cells)

    @cached_property
    def dense(self):
        """Encoded rows with their columns on one scale, NaN filled in; None if too many."""
        Z = self.encoded
        if issparse(Z):
            if Z.shape[0] * Z.shape[1] > 2e7:
                return None
            Z = Z.toarray()
        Z = np.nan_to_num(Z.astype(np.float64))
        spread = Z.std(axis=0)
        return (Z - Z.mean(axis=0)) / np.where(spread > 0, spread, 1.0)

    @cached_property
    def typical(self):
        """The number of the row nearest to the medians of all columns."""
        if self.dense is None:
            return 0
        return int(((self.dense - np.median(self.dense, axis=0)) ** 2).sum(axis=1).argmin())

    @cached_property
    def answers(self):
        """What the judge says of the rows."""
        return self.judge.predict(self.rows.cells)

    @cached_property
    def explained(self):
        """Contributions of raw columns to the scores of at most 500 rows; None if there are none.

        Gives the numbers of these rows and the explanation.
        """
        places, names = spread_over(self.rows.shape[0], 500), self.rows.names
        try:
            found = self.whole.explain(self.rows.take(places))
        except (TypeError, ValueError):
            return None
        if found.contributions is None or found.names[: len(names)] != names:
            return None
        return places, found


def spread_over(n_rows, most):
    """Numbers of at most so many rows, evenly spread."""
    return np.unique(np.linspace(0, n_rows - 1, min(n_rows, most)).round().astype(np.intp))


def subject_of(model, X, y, preparation=None, judge=None, **names):
    """A checked subject; ``judge`` is a model or pipeline."""
    check_is_fitted(model, "predictor_")
    name = type(model).__name__
    if model._is_precomputed:
        raise ValueError(f"{name} with precomputed kernels has no rows that a report could show.")
    if getattr(model, "n_gating_features_", 0):
        raise ValueError(f"{name} was fitted with a second matrix, which a report does not take.")
    check_consistent_length(X, y)
    y = np.asarray(y)
    if (y.ndim > 1 and y.shape[1] > 1) or getattr(model, "multilabel_", False):
        raise ValueError("A report is about one target: give a model of one column of y.")
    y = y.reshape(-1)
    if len(y) == 0:
        raise ValueError("A report needs rows that judge the model; X has none.")
    whole = Whole(model, preparation)
    first = preparation if preparation is not None else model
    rows = Rows.of(X, getattr(first, "feature_names_in_", None))
    if not isinstance(model, ClassifierMixin):
        y = y.astype(np.float64)
    judge = whole if judge is None else Whole.of(judge)
    return Subject(whole, judge, rows, y, names)
