"""Locally linear kernels ⟨φ(x), φ(z)⟩ with φ(x) = h(x)(x − c), which fade around an anchor c.

Four profiles h say how: with u = γr (exponential, linear) or u = γr² (gaussian, square), h is
exp(−u) or (1 − u)₊.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from .base import evaluates_pairs
from .pairs import Pairs, as_floats


@dataclass(frozen=True)
class Profile:
    """One way to fade; ``is_bounded`` profiles are exactly zero beyond u = 1.

    ``reach`` is how many typical distances a profile of relative bandwidth one spans: bounded
    profiles are drawn twice as wide, so that they cover what the others do.
    """

    name: str
    is_bounded: bool
    of_root: bool

    @property
    def reach(self):
        return 2.0 if self.is_bounded else 1.0

    def exponents(self, squares, gamma):
        """u for squared distances; a new array."""
        return (np.sqrt(squares) if self.of_root else squares) * gamma

    def values(self, squares, gamma):
        """h for squared distances; a new array."""
        u = self.exponents(squares, gamma)
        if self.is_bounded:
            np.subtract(1.0, u, out=u)
            return np.maximum(u, 0.0, out=u)
        np.negative(u, out=u)
        return np.exp(u, out=u)

    def slopes(self, u, values):
        """dh/du."""
        return -(u < 1.0).astype(u.dtype) if self.is_bounded else -values

    def gamma(self, bandwidth, squared_distance):
        """γ for a bandwidth relative to the typical squared distance."""
        scale = np.sqrt(squared_distance) if self.of_root else squared_distance
        return bandwidth / (self.reach * scale)


PROFILES = {
    profile.name: profile
    for profile in (
        Profile("exponential", is_bounded=False, of_root=True),
        Profile("gaussian", is_bounded=False, of_root=False),
        Profile("linear", is_bounded=True, of_root=True),
        Profile("square", is_bounded=True, of_root=False),
    )
}


@evaluates_pairs
@dataclass(frozen=True)
class Conformal:
    """⟨φ(x), φ(z)⟩ with φ(x) = h(‖x − c‖)(x − c): linear around an anchor c, fading away from it.

    Parameters
    ----------
    anchor : sequence of float
        The anchor c, one number for each feature.
    gamma : float
        γ of the profile, 0 or more.
    profile : {"exponential", "gaussian", "linear", "square"}, default="gaussian"
        h(r) = exp(−γr), exp(−γr²), (1 − γr)₊ or (1 − γr²)₊; the last two are exactly zero far from
        the anchor.
    per_feature : bool, default=False
        Each feature fades by itself: φ_d(x) = h(abs(x_d − c_d))(x_d − c_d).
    """

    anchor: tuple[Any, ...]
    gamma: float
    profile: str = "gaussian"
    per_feature: bool = False

    def __post_init__(self) -> None:
        if self.profile not in PROFILES:
            raise ValueError(
                f"Conformal needs one of the profiles {sorted(PROFILES)}, not {self.profile!r}."
            )
        if not 0 <= self.gamma < np.inf:
            raise ValueError(f"Conformal needs gamma of 0 or more, not {self.gamma!r}.")
        object.__setattr__(self, "anchor", tuple(float(value) for value in self.anchor))
        if not np.all(np.isfinite(self.anchor)):
            raise ValueError(f"Conformal needs an anchor of finite numbers, not {self.anchor!r}.")

    def features(self, X: Any) -> np.ndarray:
        """φ(X), shape (n_rows, n_features)."""
        X = as_floats(X.toarray() if issparse(X) else X)
        if X.shape[1] != len(self.anchor):
            raise ValueError(
                f"The anchor has {len(self.anchor)} features and X has {X.shape[1]}; "
                "give an anchor of the same space."
            )
        away = X - np.asarray(self.anchor, dtype=X.dtype)
        squares = away**2
        if not self.per_feature:
            squares = squares.sum(axis=1, keepdims=True)
        return PROFILES[self.profile].values(squares, X.dtype.type(self.gamma)) * away

    def from_pairs(self, pairs: Pairs) -> np.ndarray:
        images = self.features(pairs.X)
        return images @ (images if pairs.is_square else self.features(pairs.Z)).T

    def diagonal(self, X: Any) -> np.ndarray:
        return (self.features(X) ** 2).sum(axis=1)

    def for_rows(self, X: Any) -> Any:
        return self
