"""What the score of a row is made of: the records."""

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from .._cached import cached_property


def pair_name(first, second, a, b):
    """Words such as "height − 0.5·slope"."""
    first = first if abs(a) == 1.0 else f"{abs(a):.3g}·{first}"
    second = second if abs(b) == 1.0 else f"{abs(b):.3g}·{second}"
    return f"{'−' if a < 0 else ''}{first} {'−' if b < 0 else '+'} {second}"


def _as_numbers(rows):
    rows = rows.toarray() if hasattr(rows, "toarray") else rows
    return np.asarray(rows, dtype=np.float64)


def _as_cells(rows):
    """Rows as numbers or, where some columns hold text or dates, as objects."""
    try:
        return _as_numbers(rows)
    except (TypeError, ValueError):
        return np.asarray(rows, dtype=object)


@dataclass(frozen=True, eq=False)
class InfluentialRows:
    """The support rows that weigh most in a score, the weightiest first.

    Attributes
    ----------
    indices : array of int of shape (n_rows, n_outputs, n_support)
        Numbers of rows of the predictor's ``support`` (with several gated machines, of the
        output's own); −1 where there are fewer of them than were asked for.
    parts : array of shape (n_rows, n_outputs, n_support)
        What each adds to the score.
    """

    indices: np.ndarray
    parts: np.ndarray


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """Scores of rows, taken apart; made by ``model.explain(X)``.

    A locally linear model has, for every row x, one linear model that answers for it:
    ``scores == contributions.sum(axis=2) + intercepts``. A kernel machine adds up its kernels:
    ``scores == kernel_shares.sum(axis=2) + intercepts``. A forest has contributions and no
    coefficients: what the splits on a column have changed on the row's way down, and parts of their
    own for pair columns. What a model does not have is None. All numbers are float64, whatever the
    model's own precision.

    Attributes
    ----------
    intercepts : array of shape (n_rows, n_outputs)
        b(x), or the machine's bias.
    coefficients : array of shape (n_rows, n_outputs, n_features)
        w(x). Gates move with x, too, so it is not the gradient of the score.
    rows : array of shape (n_rows, n_features)
        The rows x that the coefficients or contributions belong to; raw rows may hold text.
    component : str
        What ``active`` counts: "anchor", "node", "kernel", "landmark", "leaf",
        "member", "unit" or "component".
    active : array of int
        Components that answer for each row, in the shape of ``gates``. A tree has the nodes of the
        path, root first; the children of node k are 2k + 1, taken where its split is positive, and
        2k + 2.
    gates : array of shape (n_rows, n_active)
        How much each of them counts: the gate's values, the nodes' features c(x), or the kernels'
        h(x) (with ``per_feature`` its mean over the features). There is an axis more, after the
        rows, if every output has a gate of its own, or every tree of a forest a path.
    kernel_shares : array of shape (n_rows, n_outputs, n_kernels)
        Part of each kernel or component in the score; of a vote, the gated votes.
    support : InfluentialRows
        The most influential support rows. Of a vote γ tanh f, rows have shares in proportion to
        their parts of f.
    feature_names : tuple of str
        Names of the features, if the model or its preparation was fitted with names.
    classes : tuple
        The class that each output speaks for; of two classes the second. None for values.
    parts : array of shape (n_rows, n_outputs, n_features + n_pairs)
        The contributions of a forest.
    pairs : tuple of (int, int, float, float)
        Of a forest's pair columns a x_i + b x_j, i, j, a and b.
    """

    intercepts: np.ndarray
    coefficients: np.ndarray | None = None
    rows: np.ndarray | None = None
    component: str = "kernel"
    active: np.ndarray | None = None
    gates: np.ndarray | None = None
    kernel_shares: np.ndarray | None = None
    support: InfluentialRows | None = None
    feature_names: tuple | None = None
    classes: tuple | None = None
    parts: np.ndarray | None = None
    pairs: tuple = ()

    @cached_property
    def contributions(self) -> np.ndarray | Any:
        """w(x) ∘ x: each feature's part of the score, shape (n_rows, n_outputs, n_features).

        Of a forest, pair columns come after the features; ``names`` has what all are called.
        """
        if self.parts is not None:
            return self.parts
        return None if self.coefficients is None else self.coefficients * self.rows[:, None]

    @property
    def names(self) -> tuple[str, ...]:
        """What contributions are of: names of features, or x0, x1, …, then pairs of these."""
        names = self.feature_names
        if names is None:
            names = tuple(f"x{d}" for d in range(self.rows.shape[1]))
        return (*names, *(pair_name(names[i], names[j], a, b) for i, j, a, b in self.pairs))

    @cached_property
    def scores(self) -> np.ndarray:
        """The parts added up again, shape (n_rows, n_outputs): what the model says to rounding."""
        if self.coefficients is None:
            return self._parts.sum(axis=2) + self.intercepts
        return (self.coefficients @ self.rows[:, :, None])[:, :, 0] + self.intercepts

    @cached_property
    def importances(self) -> np.ndarray:
        """Mean absolute contribution of each feature over the rows, shape (n_outputs, n_features).

        Of a kernel machine those of its kernels; of a forest those of pair columns come last.
        """
        return np.abs(self._parts).mean(axis=0)

    def to_frame(self) -> Any:
        """The parts of every score as a pandas DataFrame.

        A line for each row and output (the index), a column for each feature, or kernel, then
        ``intercept`` and ``score``, the sum of the line.

        Returns
        -------
        pandas.DataFrame
        """
        from pandas import DataFrame, MultiIndex

        n_rows, n_outputs, n_parts = self._parts.shape
        is_of_kernels = self.kernel_shares is not None
        names = [f"kernel {k}" for k in range(n_parts)] if is_of_kernels else self.names
        values = np.concatenate([self._parts, np.stack([self.intercepts, self.scores], 2)], axis=2)
        outputs = range(n_outputs) if self.classes is None else self.classes
        index = MultiIndex.from_product([range(n_rows), outputs], names=["row", "output"])
        return DataFrame(
            values.reshape(n_rows * n_outputs, -1), index, [*names, "intercept", "score"]
        )

    @property
    def _parts(self):
        return self.contributions if self.kernel_shares is None else self.kernel_shares

    def in_original_units(self, scaler: Any, rows: Any = None) -> "Explanation":
        """The same scores, told in the features before they were scaled, or mixed by a PCA.

        Kernel shares have no units of features and stay as they are.

        Parameters
        ----------
        scaler : StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler, PCA, TruncatedSVD or a \
                Pipeline of these
            Fitted: what turned the raw rows into those that were explained.
        rows : array of shape (n_rows, n_raw_features) or None
            The raw rows. They are needed where features were mixed, which cannot be undone.

        Returns
        -------
        Explanation
        """
        from ..preparation.transformers import NoPreparation, preparation_of_steps

        try:
            table = preparation_of_steps([scaler])
        except NoPreparation:
            table = None
        if table is None or not table.is_affine or (rows is None and table.matrix is not None):
            raise TypeError(
                "in_original_units undoes a scaler that does not clip, such as StandardScaler, and "
                f"with rows= principal components, not {type(scaler).__name__}."
            )
        if self.kernel_shares is not None:
            return self
        n_features = self.rows.shape[1]
        if table.width != n_features:
            raise ValueError(
                f"The scaler was fitted to {table.width} features and the explained rows have "
                f"{n_features}; give the scaler that made these rows."
            )
        coefficients, intercepts = self.coefficients, self.intercepts
        mean, scale = table.column("shift", 0.0), table.column("scale", 1.0)
        if coefficients is None:
            if table.matrix is not None:
                raise TypeError("Contributions of a forest are of its columns: mixed, they stay.")
            return replace(self, rows=self.rows * scale + mean)
        if table.matrix is not None:
            intercepts = intercepts + coefficients @ table.offset
            coefficients = coefficients @ table.matrix
        coefficients = coefficients / scale
        return replace(
            self,
            coefficients=coefficients,
            intercepts=intercepts - coefficients @ mean,
            rows=self.rows * scale + mean if table.matrix is None else _as_numbers(rows),
        )

    def summed(self, origins, rows):
        """The same with one contribution per column of the raw ``rows``.

        ``origins`` is the raw column of each explained column.
        """
        rows = _as_cells(rows)
        parts = np.zeros((*self.intercepts.shape, rows.shape[1]))
        for d, origin in enumerate(origins):
            parts[:, :, origin] += self.contributions[:, :, d]
        return replace(self, coefficients=None, rows=rows, parts=parts)

    def on_first_features(self, n_features):
        """The same without the last columns, which only the gate has seen."""
        if self.coefficients is None or self.rows.shape[1] == n_features:
            return self
        return replace(
            self,
            coefficients=self.coefficients[:, :, :n_features],
            rows=self.rows[:, :n_features],
        )

    def __repr__(self):
        arrays = {field.name: getattr(self, field.name) for field in fields(self)}
        shapes = [f"{name} {a.shape}" for name, a in arrays.items() if isinstance(a, np.ndarray)]
        return f"Explanation of {len(self.intercepts)} rows ({', '.join(shapes)})"
