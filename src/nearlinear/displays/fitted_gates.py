"""The gate inside a fitted localized model, alone or at the end of a pipeline."""

from dataclasses import dataclass

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from ..gates.score_gates import Repeated
from ..kernels.composite import Scaled
from ..kernels.gated_grams import with_gates
from ..predictors.gated import (
    ExpansionOfGatedRows,
    GatedExpansion,
    GatedLinear,
    GatedVote,
    Stacked,
)
from .fitted_machine import FittedMachine
from .kernel_labels import describe

_GATED = (GatedLinear, GatedExpansion, GatedVote, ExpansionOfGatedRows, Stacked)
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
            case GatedLinear():
                return predictor.local(rows)[:, components] + predictor.bias
            case GatedVote():  # the votes are tanh of these
                return predictor.components(rows)[:, components]
            case GatedExpansion():
                n_components = self.machine.gate_(rows[:1]).shape[1]
                # C-LMKL: a cluster answers by the sum over its kernels
                parts = predictor.components(rows).reshape(rows.shape[0], n_components, -1)
                return parts.sum(axis=2)[:, components] + predictor.bias
        marks = np.eye(len(self.machine.kernels_))[components]
        return np.hstack([
            predictor.expansion(with_gates(rows, np.tile(mark, (rows.shape[0], 1))))
            for mark in marks
        ])  # fmt: skip

    def holds_boundary(self, X, signs, scores, components):
        """Which rows hold which of these components, shape (n_rows, n_components)."""
        gates = self.gates(X)
        if isinstance(self.machine.predictor_, GatedVote):
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
        if isinstance(self.machine.predictor_.gate, Repeated):
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
    return hasattr(machine, "gate_") and isinstance(getattr(machine, "predictor_", None), _GATED)
