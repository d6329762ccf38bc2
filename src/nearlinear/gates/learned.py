"""Gates with parameters that are learned: softmax and sigmoid of linear scores, and Gaussians.

What such a gate has to offer stands in ``base.LearnedGate``.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from .clustering import fit_anchors

# Between its own center and the next a starting gate falls to about this share.
_START_SHARPNESS = 1.0
# Of the published start, for standardized rows.
_RANDOM_START = 0.01


@dataclass(frozen=True)
class Softmax:
    """γ_m(z) ∝ exp(⟨v_m, z⟩ + v_m0); starts near the cells of k-means centers.

    Parameters
    ----------
    directions, offsets : array or None, default=None
        v_m of shape (n_components, n_features) and v_m0; None until ``start``.
    """

    directions: np.ndarray | None = None
    offsets: np.ndarray | None = None

    def start(self, Z: Any, n_components: int, rng: np.random.RandomState) -> Any:
        centers, width = _start_centers(Z, n_components, rng)
        directions = 2.0 * centers / width
        offsets = -np.einsum("md,md->m", centers, centers) / width
        # as far from the middle one: a shift of all scores changes nothing
        return Softmax(directions - directions.mean(axis=0), offsets - offsets.mean())

    def __call__(self, Z: Any) -> np.ndarray:
        return softmax(_linear_scores(self, Z))

    @property
    def parameters(self) -> np.ndarray:
        return np.concatenate([self.directions.ravel(), self.offsets])

    def with_parameters(self, parameters: np.ndarray) -> Any:
        return _with_linear_parameters(self, parameters)

    def gradient(self, Z: Any, slopes: np.ndarray) -> np.ndarray:
        gates = self(Z)
        return _linear_gradient(Z, softmax_slopes(gates, slopes))


@dataclass(frozen=True)
class Sigmoid:
    """γ_m(z) = 1 / (1 + exp(−⟨v_m, z⟩ − v_m0)): all components may answer, or none.

    Starts half open everywhere, a little wider near one k-means center for each component.

    Parameters
    ----------
    directions, offsets : array or None, default=None
        v_m of shape (n_components, n_features) and v_m0; None until ``start``.
    """

    directions: np.ndarray | None = None
    offsets: np.ndarray | None = None

    def start(self, Z: Any, n_components: int, rng: np.random.RandomState) -> Any:
        centers, width = _start_centers(Z, n_components, rng)
        middle = centers.mean(axis=0)
        directions = 2.0 * (centers - middle) / width
        return Sigmoid(directions, -directions @ middle)

    def __call__(self, Z: Any) -> np.ndarray:
        scores = _linear_scores(self, Z)
        # tanh does not overflow
        return 0.5 + 0.5 * np.tanh(0.5 * scores)

    @property
    def parameters(self) -> np.ndarray:
        return np.concatenate([self.directions.ravel(), self.offsets])

    def with_parameters(self, parameters: np.ndarray) -> Any:
        return _with_linear_parameters(self, parameters)

    def gradient(self, Z: Any, slopes: np.ndarray) -> np.ndarray:
        gates = self(Z)
        return _linear_gradient(Z, slopes * gates * (1.0 - gates))


@dataclass(frozen=True)
class GaussianGate:
    """γ_m(z) ∝ exp(−‖z − μ_m‖² / s_m²) with s_m² = scale × exp(2 log_widths_m).

    Starts at k-means centers, with a ``scale`` from the distances between them.

    Parameters
    ----------
    centers : array of shape (n_components, n_features) or None, default=None
        The μ_m; None until ``start``.
    log_widths : array of shape (n_components,) or None, default=None
        Logarithms of the widths; None until ``start``.
    scale : float, default=1.0
        The squared distance that a width of 1 stands for.
    """

    centers: np.ndarray | None = None
    log_widths: np.ndarray | None = None
    scale: float = 1.0

    def start(self, Z: Any, n_components: int, rng: np.random.RandomState) -> Any:
        centers, scale = _start_centers(Z, n_components, rng)
        return GaussianGate(centers, np.zeros(len(centers)), scale)

    def random_start(self, Z: Any, n_components: int, rng: np.random.RandomState) -> Any:
        """Centers on random rows, and as wide as all rows together."""
        rows = rng.choice(Z.shape[0], n_components, replace=n_components > Z.shape[0])
        centers = Z[np.sort(rows)]
        centers = np.asarray(centers.toarray() if issparse(centers) else centers, dtype=np.float64)
        return GaussianGate(centers, np.zeros(n_components), _total_variance(Z))

    def __call__(self, Z: Any) -> np.ndarray:
        squares = self._squares(Z)
        return softmax(-squares * self._narrow.astype(squares.dtype))

    @property
    def _narrow(self):
        # beyond e±20 a width is as good as none, or as all
        return np.exp(-2.0 * np.clip(self.log_widths, -20.0, 20.0)) / self.scale

    def _squares(self, Z):
        squares = _products(Z, -2.0 * self.centers)
        squares += _squared_norms(Z)[:, None].astype(squares.dtype)
        squares += np.einsum("md,md->m", self.centers, self.centers).astype(squares.dtype)
        return np.maximum(squares, 0.0)

    @property
    def parameters(self) -> np.ndarray:
        return np.concatenate([self.centers.ravel(), self.log_widths])

    def with_parameters(self, parameters: np.ndarray) -> Any:
        size = self.centers.size
        centers = parameters[:size].reshape(self.centers.shape)
        return replace(self, centers=centers, log_widths=parameters[size:])

    def gradient(self, Z: Any, slopes: np.ndarray) -> np.ndarray:
        slope_squares = softmax_slopes(self(Z), slopes) * self._narrow
        toward = 2.0 * (
            np.asarray(slope_squares.T @ Z) - slope_squares.sum(axis=0)[:, None] * self.centers
        )
        widths = 2.0 * np.einsum("im,im->m", slope_squares, self._squares(Z))
        return np.concatenate([toward.ravel(), widths])


@dataclass(frozen=True)
class Viewing:
    """A gate that sees the rows through a function of them.

    Parameters
    ----------
    gate : LearnedGate
        The gate.
    view : callable
        A function of rows, such as ``Columns``; returns the rows that the gate sees.
    """

    gate: object
    view: Callable

    def start(self, X: Any, n_components: int, rng: np.random.RandomState) -> Any:
        return replace(self, gate=self.gate.start(self.view(X), n_components, rng))

    def random_start(self, X: Any, n_components: int, rng: np.random.RandomState) -> Any:
        return replace(self, gate=random_start(self.gate, self.view(X), n_components, rng))

    def __call__(self, X: Any) -> np.ndarray:
        return self.gate(self.view(X))

    @property
    def parameters(self) -> np.ndarray:
        return self.gate.parameters

    def with_parameters(self, parameters: np.ndarray) -> Any:
        return replace(self, gate=self.gate.with_parameters(parameters))

    def gradient(self, X: Any, slopes: np.ndarray) -> np.ndarray:
        return self.gate.gradient(self.view(X), slopes)


@dataclass(frozen=True)
class Columns:
    """The view on some columns.

    Parameters
    ----------
    columns : sequence of int
        Numbers of the columns, from 0 on.
    """

    columns: tuple[int, ...]

    def __call__(self, X: Any) -> np.ndarray:
        return X[:, list(self.columns)]


@dataclass(frozen=True)
class Rounded:
    """A gate whose values within ``margin`` of 0 and 1 are 0 and 1: what is shut costs nothing."""

    gate: object
    margin: float = 1e-3

    def __call__(self, X: Any) -> np.ndarray:
        values = np.array(self.gate(X))
        values[values < self.margin] = 0.0
        values[values > 1.0 - self.margin] = 1.0
        return values


def random_start(gate, Z, n_components, rng):
    """A gate from which learning begins as published: all but tied, whatever the rows are like.

    Scores differ by about a hundredth between rows: parameters are uniform between ±0.01, in units
    of one over the features' spread, which is one where rows are standardized. A gate may have a
    ``random_start`` of its own, as the Gaussian has.
    """
    if hasattr(gate, "random_start"):
        return gate.random_start(Z, n_components, rng)
    started = gate.start(Z, n_components, rng)
    size = _RANDOM_START / max((_total_variance(Z) / max(1, Z.shape[1])) ** 0.5, 1e-300)
    return started.with_parameters(rng.uniform(-size, size, len(started.parameters)))


def softmax(scores):
    """Rows of exp(scores), divided by their sums."""
    scores = scores - scores.max(axis=1, keepdims=True)
    np.exp(scores, out=scores)
    # a product with ones sums short rows ten times faster
    scores /= (scores @ np.ones(scores.shape[1], dtype=scores.dtype))[:, None]
    return scores


def softmax_slopes(gates, slopes):
    """∂L/∂scores, for ∂L/∂γ."""
    return gates * (slopes - np.einsum("im,im->i", gates, slopes)[:, None])


def _start_centers(Z, n_components, rng):
    """Centers of k-means, and the squared distance over which a gate fades from one to another."""
    if n_components == 1:
        return np.asarray(Z.mean(axis=0), dtype=np.float64).reshape(1, -1), 1.0
    n_distinct = min(n_components, Z.shape[0])
    found = fit_anchors(Z, n_distinct, rng, np.ones(Z.shape[0])).astype(np.float64)
    found = found[np.arange(n_components) % n_distinct]
    middle = found.mean(axis=0)
    spread = 2.0 * float(((found - middle) ** 2).sum(axis=1).mean()) / _START_SHARPNESS
    return found, spread if spread > 0 else 1.0


def _total_variance(Z):
    """Sum of the features' variances: their number, where rows are standardized."""
    center = np.asarray(Z.mean(axis=0), dtype=np.float64).ravel()
    total = float(_squared_norms(Z).mean() - center @ center)
    return total if total > 0.0 else 1.0


def _products(Z, directions):
    """Z @ directions.T in the rows' precision: others would be converted at every call."""
    kind = Z.dtype if Z.dtype.kind == "f" else np.float64
    return np.asarray(Z @ directions.T.astype(kind))


def _squared_norms(Z):
    if issparse(Z):
        return np.asarray(Z.multiply(Z).sum(axis=1), dtype=np.float64).ravel()
    return np.einsum("id,id->i", Z, Z, dtype=np.float64)


def _linear_scores(gate, Z):
    scores = _products(Z, gate.directions)
    scores += gate.offsets.astype(scores.dtype)
    return scores


def _with_linear_parameters(gate, parameters):
    size = gate.directions.size
    directions = parameters[:size].reshape(gate.directions.shape)
    return replace(gate, directions=directions, offsets=parameters[size:])


def _linear_gradient(Z, slopes):
    return np.concatenate([np.asarray(slopes.T @ Z).ravel(), slopes.sum(axis=0)])


GATES = {"softmax": Softmax(), "sigmoid": Sigmoid(), "gaussian": GaussianGate()}
