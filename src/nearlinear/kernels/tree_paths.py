"""Similarity by shared path: the local kernel of LDKL."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .base import evaluates_pairs
from .pairs import Pairs


@evaluates_pairs
@dataclass(frozen=True)
class LDKLKernel:
    """⟨φ_L(x), φ_L(z)⟩ of a learned tree, with φ_L(x) the gates of the nodes that x passes.

    Two rows are alike as far down as they go together. The kernel that LDKL learns is the product
    of this one and that of the global features, which is ⟨x, z⟩ + 1 unless others are given.

    Parameters
    ----------
    tree : predictor
        The ``predictor_`` of a fitted LDKL model; of several trees, the mean of their kernels is
        taken. ``LDKLKernel.of(model)`` takes the model.

    Examples
    --------
    As a kernel of another machine, on rows as the tree takes them:

    >>> from sklearn.datasets import make_moons
    >>> from sklearn.svm import SVC
    >>> from nearlinear import LDKLClassifier
    >>> from nearlinear.kernels import LDKLKernel, Linear, OnColumns, Polynomial, Product
    >>> from nearlinear.kernels import WeightedSum
    >>> X, y = make_moons(200, noise=0.1, random_state=0)
    >>> local = LDKLKernel.of(LDKLClassifier(3, random_state=0).fit(X, y))
    >>> bool(SVC(kernel=Product((local, Polynomial(1, gamma=1.0)))).fit(X, y).score(X, y) > 0.97)
    True

    Σ_m K_Lm K_Gm, each term on columns of its own:

    >>> one, other = (
    ...     LDKLKernel.of(LDKLClassifier(2, random_state=0).fit(X[:, [d]], y)) for d in (0, 1)
    ... )
    >>> terms = (
    ...     OnColumns(Product((one, Linear())), (0,)),
    ...     OnColumns(Product((other, Polynomial(2, gamma=1.0))), (1,)),
    ... )
    >>> bool(SVC(kernel=WeightedSum(terms, (1.0, 1.0))).fit(X, y).score(X, y) > 0.9)
    True
    """

    tree: object

    @classmethod
    def of(cls, model: Any) -> "LDKLKernel":
        """The kernel of a fitted LDKLClassifier or LDKLRegressor."""
        tree = getattr(model, "predictor_", model)
        if not hasattr(tree, "local_features"):
            raise TypeError(
                f"LDKLKernel takes a fitted LDKL model, not {type(model).__name__}: fit one first."
            )
        return cls(tree)

    def from_pairs(self, pairs: Pairs) -> np.ndarray:
        left = self.tree.local_features(pairs.X)
        right = left if pairs.is_square else self.tree.local_features(pairs.Z)
        return np.asarray((left @ right.T).todense(), dtype=pairs.dtype)

    def diagonal(self, X: Any) -> np.ndarray:
        features = self.tree.local_features(X)
        dtype = X.dtype if X.dtype.kind == "f" else np.float64
        return np.asarray(features.multiply(features).sum(axis=1), dtype=dtype).ravel()

    def for_rows(self, X: Any) -> Any:
        return self
