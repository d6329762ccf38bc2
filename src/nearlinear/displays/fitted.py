"""The gate or tree inside a fitted model, and the plane of its two features."""

from dataclasses import dataclass

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.validation import check_is_fitted

from ..gates.scores import Repeated
from ..kernels.gated_grams import with_gates
from ..predictors.averaged import Averaged
from ..predictors.combined import Mapped, Stacked, tree_and_projection
from ..predictors.gated_expansion import GatedExpansion, reads_scores
from ..predictors.linked_tree import LinkedTree
from ..predictors.locally_linear import LocallyLinear
from ..predictors.tree_leaves import TreeLeaves
from ..predictors.tree_path import TreePath
from .kernel_labels import short_label


def grid_around(points, resolution, margin):
    """``numpy.meshgrid`` over the points and some room around them, a share of their range."""
    low, high = points.min(axis=0), points.max(axis=0)
    room = margin * np.where(high > low, high - low, 1.0)
    return np.meshgrid(*np.linspace(low - room, high + room, resolution).T)


def checked_labels(y, points, classes):
    """One label of ``classes`` for each point."""
    y = column_or_1d(y)
    check_consistent_length(points, y)
    if not np.isin(y, classes).all():
        unknown = np.setdiff1d(y, classes).tolist()[0]
        raise ValueError(f"y has the label {unknown!r}, which the model does not know.")
    return y


def last_of(model):
    """The estimator itself, of a pipeline its last step; it is fitted."""
    check_is_fitted(model)
    return model[-1] if isinstance(model, Pipeline) else model


def steps_before(model):
    """The pipeline before the last step, or None."""
    return model[:-1] if isinstance(model, Pipeline) and len(model) > 1 else None


def rows_of(model, X):
    """Rows that reach the predictor: through the steps before it, in its own precision."""
    steps, predictor = steps_before(model), last_of(model).predictor_
    X = X if steps is None else steps.transform(X)
    return check_array(X, accept_sparse="csr", dtype=predictor.dtype)


def axis_names(model):
    """Names of the features of a picture."""
    return [str(name) for name in getattr(model, "feature_names_in_", ("$x_1$", "$x_2$"))]


def checked_names(given, model, n_features, seen_by):
    """Names of what the last step sees: as given, as learned, or None."""
    steps = steps_before(model)
    if given is None and steps is None:
        given = getattr(model, "feature_names_in_", None)
    elif given is None:
        try:
            given = steps.get_feature_names_out()
        except (AttributeError, ValueError):  # a step that cannot name what it makes
            return None
    names = None if given is None else [str(name) for name in given]
    if names is not None and len(names) != n_features:
        raise ValueError(
            f"feature_names has {len(names)} names and {seen_by} {n_features} features."
        )
    return names


_GATED = (LocallyLinear, GatedExpansion, Mapped, Stacked)
# Tolerance of y f(x) <= 1 for support vectors: solvers stop at a duality gap.
_TOLERANCE = 1e-3


@dataclass(frozen=True)
class FittedGates:
    """A fitted classifier that is a gated sum of components."""

    model: object
    machine: object

    @classmethod
    def of(cls, model, display):
        """Check a classifier for the display of that name."""
        last = last_of(model)
        if not _has_gate(last) or not hasattr(last, "classes_"):
            raise ValueError(
                f"{display} draws classifiers with a gate, such as LMKLClassifier, not "
                f"{type(last).__name__}."
            )
        if len(last.classes_) != 2:
            raise ValueError(
                f"{display} draws models of 2 classes; this one knows {len(last.classes_)}."
            )
        return cls(model, last)

    def points(self, X, display):
        """``X`` as an array of two features."""
        points = check_array(X, dtype=np.float64)
        if points.shape[1] != 2:
            raise ValueError(f"{display} draws rows of 2 features; X has {points.shape[1]}.")
        return points

    def gates(self, X):
        """γ(X), shape (n_rows, n_components)."""
        return self.machine.gate_(rows_of(self.model, X))

    def alone(self, X, components):
        """What chosen components would answer with their gate at one and all others at zero."""
        rows, predictor = rows_of(self.model, X), self.machine.predictor_
        match predictor:
            case LocallyLinear():
                return predictor.local(rows)[:, components] + predictor.intercept[0]
            case GatedExpansion(activation="tanh"):  # the votes are tanh of these
                return predictor.components(rows)[:, components]
            case GatedExpansion():
                n_components = self.machine.gate_(rows[:1]).shape[1]
                # C-LMKL: a cluster answers by the sum over its kernels
                parts = predictor.components(rows).reshape(rows.shape[0], n_components, -1)
                return parts.sum(axis=2)[:, components] + predictor.bias
        marks = np.eye(len(self.machine.kernels_))[components]
        return np.hstack([
            predictor.predictor(with_gates(rows, np.tile(mark, (rows.shape[0], 1))))
            for mark in marks
        ])  # fmt: skip

    def holds_boundary(self, X, signs, scores, components):
        """Which rows hold which of these components, shape (n_rows, n_components)."""
        gates = self.gates(X)
        if getattr(self.machine.predictor_, "activation", None) == "tanh":
            # machines of their own, each on rows that it answers for
            margins = signs[:, None] * self.alone(X, components)
            is_open = gates[:, components] >= (1.0 - 1e-9) / gates.shape[1]
        else:
            margins, is_open = (signs * scores)[:, None], gates[:, components] > 0.0
        return (margins <= 1.0 + _TOLERANCE) & is_open

    def label(self, component):
        """What to call a component; with its kernel where there are several."""
        kernels = self.machine.kernels_
        if isinstance(getattr(self.machine.predictor_, "gate", None), Repeated):
            return f"cluster {component}"
        if len(kernels) == 1:
            return f"component {component}"
        kernel = kernels[component % len(kernels)]
        return f"{component}: {short_label(kernel, None)}"


def _has_gate(machine):
    """A gate of rows, that is."""
    predictor = getattr(machine, "predictor_", None)
    is_gated = hasattr(machine, "gate_") and isinstance(predictor, _GATED)
    first = predictor.outputs[0] if isinstance(predictor, Stacked) else predictor
    return is_gated and not reads_scores(getattr(first, "gate", None))


@dataclass(frozen=True)
class FittedTree:
    """A fitted model whose last word is a tree of paths."""

    model: object
    predictor: object

    @classmethod
    def of(cls, model, display):
        """Open ``model`` for the picture named ``display``."""
        last = last_of(model)
        predictor = getattr(last, "predictor_", None)
        if isinstance(predictor, Averaged):
            raise ValueError(
                f"{display} draws one tree; this model averages {len(predictor.members)} (n_trees)."
            )
        if isinstance(tree_and_projection(predictor)[0], LinkedTree):
            raise ValueError(
                f"{display} draws balanced trees of x: fit with pruning=None and "
                "global_features='identity'."
            )
        if not isinstance(tree_and_projection(predictor)[0], TreePath | TreeLeaves):
            raise TypeError(f"{display} draws the trees of LDKL models, not {type(last).__name__}.")
        return cls(model, predictor)

    @property
    def tree(self):
        return tree_and_projection(self.predictor)[0]

    def paths(self, rows):
        mapped = self.predictor.map(rows) if isinstance(self.predictor, Mapped) else rows
        return self.tree.paths(mapped)

    @property
    def is_classifier(self):
        return hasattr(self.model, "classes_")

    def feature_names(self, given=None):
        """One name for each feature of the rows: as given, as learned, or x0, x1, ..."""
        n_features = self.predictor.n_features
        names = checked_names(given, self.model, n_features, "the tree has")
        return [f"x{d}" for d in range(n_features)] if names is None else names


def like(X, rows):
    """``rows`` in the form of ``X``: a data frame with its columns where X is one."""
    return type(X)(rows, columns=X.columns) if hasattr(X, "iloc") else np.asarray(rows)
