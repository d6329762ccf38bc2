"""The gate, machine or tree inside a fitted model, and the plane of its two features."""

from dataclasses import dataclass

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.validation import check_is_fitted

from ..gates.scores import Repeated
from ..kernels.composite import Scaled
from ..kernels.gated_grams import with_gates
from ..predictors.combined import Mapped, Mean, Stacked, tree_and_projection
from ..predictors.conformal_linear import ConformalLinear
from ..predictors.gated_expansion import GatedExpansion, reads_scores
from ..predictors.locally_linear import LocallyLinear
from ..predictors.tree_leaves import TreeLeaves
from ..predictors.tree_path import TreePath
from .kernel_labels import describe


def grid_around(points, resolution, margin):
    """``numpy.meshgrid`` over the points and some room around them, a share of their range."""
    low, high = points.min(axis=0), points.max(axis=0)
    room = margin * np.where(high > low, high - low, 1.0)
    return np.meshgrid(*np.linspace(low - room, high + room, resolution).T)


def checked_labels(y, points, classes=None):
    """One label for each point, of ``classes`` where these are given."""
    y = column_or_1d(y)
    check_consistent_length(points, y)
    if classes is not None and not np.isin(y, classes).all():
        unknown = np.setdiff1d(y, classes).tolist()[0]
        raise ValueError(f"y has the label {unknown!r}, which the model does not know.")
    return y


def checked_line(points, name):
    """Points of a line in the plane, shape (n_points, 2)."""
    points = np.asarray(points, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(f"{name} must have the shape (n_points, 2), not {points.shape}.")
    return points


_GATED = (LocallyLinear, GatedExpansion, Mapped, Stacked)
# Rows this little off the margin or inside the tube count as on it: machines are solved to a gap.
_TOLERANCE = 1e-3


@dataclass(frozen=True)
class FittedGates:
    """A fitted model whose last word is blended from components by a gate."""

    model: object
    machine: object

    @classmethod
    def of_classifier(cls, model, display):
        """Open a classifier for the picture named ``display``."""
        last = _last_of(model)
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

    @classmethod
    def of_regressor(cls, model, display):
        """Open a regressor for the picture named ``display``."""
        last = _last_of(model)
        if not _has_gate(last) or hasattr(last, "classes_"):
            raise ValueError(f"{display} draws LMKLRegressor, not {type(last).__name__}.")
        return cls(model, last)

    def points(self, X, n_features, display):
        """``X`` as an array of so many features."""
        points = check_array(X, dtype=np.float64)
        if points.shape[1] != n_features:
            noun = "feature" if n_features == 1 else "features"
            raise ValueError(
                f"{display} draws rows of {n_features} {noun}; X has {points.shape[1]}."
            )
        return points

    @property
    def feature_names(self):
        return FittedMachine(self.model, self.machine).feature_names

    def _rows(self, X):
        """Rows that reach the predictor: through the steps before it, in its own precision."""
        if isinstance(self.model, Pipeline) and len(self.model) > 1:
            X = self.model[:-1].transform(X)
        return check_array(X, accept_sparse="csr", dtype=self.machine.predictor_.dtype)

    def gates(self, X):
        """γ(X), shape (n_rows, n_components)."""
        return self.machine.gate_(self._rows(X))

    def alone(self, X, components):
        """What chosen components would answer with their gate at one and all others at zero."""
        rows, predictor = self._rows(X), self.machine.predictor_
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

    @property
    def epsilon(self):
        """Half the height of a regressor's tube, in the unit of its values."""
        # model files from before epsilon was relative have none, and an epsilon in that unit
        return self.machine.epsilon * getattr(self.machine, "target_spread_", 1.0)

    def holds_tube(self, residuals):
        """Which rows lie on the ε-tube or outside."""
        return np.abs(residuals) >= self.epsilon * (1.0 - _TOLERANCE)

    def label(self, component):
        """What to call a component; with its kernel where there are several."""
        kernels = self.machine.kernels_
        if isinstance(getattr(self.machine.predictor_, "gate", None), Repeated):
            return f"cluster {component}"
        if len(kernels) == 1:
            return f"component {component}"
        kernel = kernels[component % len(kernels)]
        told = describe(kernel.kernel if isinstance(kernel, Scaled) else kernel)
        words = told.label(None) if told.columns else ", ".join([told.name, *told.settings])
        return f"{component}: {words}"


def _last_of(model):
    check_is_fitted(model)
    return model[-1] if isinstance(model, Pipeline) else model


def _has_gate(machine):
    """A gate of rows, that is."""
    predictor = getattr(machine, "predictor_", None)
    is_gated = hasattr(machine, "gate_") and isinstance(predictor, _GATED)
    first = predictor.outputs[0] if isinstance(predictor, Stacked) else predictor
    return is_gated and not reads_scores(getattr(first, "gate", None))


@dataclass(frozen=True)
class FittedMachine:
    """A fitted model whose last word is a classifier made of local kernels."""

    model: object
    machine: object

    @classmethod
    def of(cls, model, display):
        """Open ``model`` for the picture named ``display``."""
        check_is_fitted(model)
        last = model[-1] if isinstance(model, Pipeline) else model
        is_local = isinstance(getattr(last, "predictor_", None), ConformalLinear)
        if not is_local or not hasattr(last, "classes_"):
            raise ValueError(f"{display} draws classifiers of MLLKM, not {type(last).__name__}.")
        if len(last.classes_) != 2:
            raise ValueError(
                f"{display} draws models of 2 classes; this one knows {len(last.classes_)}."
            )
        if last.n_features_in_ != 2:
            raise ValueError(
                f"{display} draws models of 2 features; this one was fitted on "
                f"{last.n_features_in_}."
            )
        return cls(model, last)

    @property
    def _steps_before(self):
        has_steps = isinstance(self.model, Pipeline) and len(self.model) > 1
        return self.model[:-1] if has_steps else None

    @property
    def feature_names(self):
        return [str(name) for name in getattr(self.model, "feature_names_in_", ("$x_1$", "$x_2$"))]

    def support_score(self, X):
        steps = self._steps_before
        return self.machine.support_score(X if steps is None else steps.transform(X))

    def anchors(self, X):
        """Anchors of the kernels in the units of the rows ``X``."""
        steps = self._steps_before
        if steps is None:
            return self.machine.anchors_
        if not _can_undo(steps, X):
            raise ValueError(
                "LocalKernelsDisplay needs pipeline steps that can be undone, such as a scaler."
            )
        return np.asarray(steps.inverse_transform(self.machine.anchors_))


def _can_undo(steps, X):
    if not hasattr(steps, "inverse_transform"):
        return False
    returned = np.asarray(steps.inverse_transform(steps.transform(X)))
    return np.allclose(returned, np.asarray(X), rtol=1e-4, atol=1e-4 * np.std(np.asarray(X)))


@dataclass(frozen=True)
class FittedTree:
    """A fitted model whose last word is a tree of paths."""

    model: object
    predictor: object

    @classmethod
    def of(cls, model, display):
        """Open ``model`` for the picture named ``display``."""
        check_is_fitted(model)
        last = model[-1] if isinstance(model, Pipeline) else model
        predictor = getattr(last, "predictor_", None)
        if isinstance(predictor, Mean):
            raise ValueError(
                f"{display} draws one tree; this model averages {len(predictor.predictors)} "
                "(n_trees)."
            )
        if not isinstance(tree_and_projection(predictor)[0], TreePath | TreeLeaves):
            raise TypeError(f"{display} draws the trees of LDKL models, not {type(last).__name__}.")
        return cls(model, predictor)

    @property
    def tree(self):
        return tree_and_projection(self.predictor)[0]

    def seen(self, rows):
        """Rows as the tree sees them."""
        return self.predictor.map(rows) if isinstance(self.predictor, Mapped) else rows

    def paths(self, rows):
        return self.tree.paths(self.seen(rows))

    @property
    def is_classifier(self):
        return hasattr(self.model, "classes_")

    @property
    def _has_steps_before(self):
        return isinstance(self.model, Pipeline) and len(self.model) > 1

    def rows(self, X):
        """Rows that reach the predictor: through the steps before it, in its own precision."""
        if self._has_steps_before:
            X = self.model[:-1].transform(X)
        return check_array(X, accept_sparse="csr", dtype=self.predictor.dtype)

    def feature_names(self, given=None):
        """One name for each feature of ``rows``: as given, as learned, or x0, x1, ..."""
        n_features = self.predictor.n_features
        if given is None:
            given = self._learned_names(n_features)
        names = [str(name) for name in given]
        if len(names) != n_features:
            raise ValueError(
                f"feature_names has {len(names)} names and the tree has {n_features} features."
            )
        return names

    def _learned_names(self, n_features):
        if self._has_steps_before:
            try:
                return self.model[:-1].get_feature_names_out()
            except (AttributeError, ValueError):  # a step that cannot name what it makes
                return [f"x{d}" for d in range(n_features)]
        numbered = [f"x{d}" for d in range(n_features)]
        return getattr(self.model, "feature_names_in_", numbered)


def like(X, rows):
    """``rows`` in the form of ``X``: a data frame with its columns where X is one."""
    return type(X)(rows, columns=X.columns) if hasattr(X, "iloc") else np.asarray(rows)
