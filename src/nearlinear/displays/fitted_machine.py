"""The local kernel machine inside a fitted classifier on two features, alone or in a pipeline."""

from dataclasses import dataclass

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ..predictors.conformal_linear import ConformalLinear


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
