"""The tree inside a fitted model, alone or at the end of a pipeline."""

from dataclasses import dataclass

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from ..predictors.tree_forest import TreeForest
from ..predictors.tree_path import TreePath


@dataclass(frozen=True)
class FittedTree:
    """A fitted model whose last word is a tree of paths."""

    model: object
    predictor: TreePath

    @classmethod
    def of(cls, model, display):
        """Open ``model`` for the picture named ``display``."""
        check_is_fitted(model)
        last = model[-1] if isinstance(model, Pipeline) else model
        predictor = getattr(last, "predictor_", None)
        if isinstance(predictor, TreeForest):
            raise ValueError(
                f"{display} draws one tree; this model averages {len(predictor.trees)} (n_trees)."
            )
        if not isinstance(predictor, TreePath):
            raise TypeError(f"{display} draws the trees of LDKL models, not {type(last).__name__}.")
        return cls(model, predictor)

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
        return check_array(X, accept_sparse="csr", dtype=self.predictor.weights.dtype)

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
