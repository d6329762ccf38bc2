"""f_o(x) = b_o + Σ_p h_k(x) ⟨w_p, x − c_k⟩ over the terms p of output o; k is the term's kernel."""

from dataclasses import dataclass, fields

import numpy as np

from .._cached import cached_property
from .._compile import run_blocks
from ..kernels.conformal import PROFILES
from .base import Cost, check_width
from .conformal_lanes import LaneBlock, pack

_BLOCK_ROWS = 4096


@dataclass(frozen=True)
class ConformalLinear:
    """Linear models around anchors, each of which fades with the distance from its own.

    ``anchors`` (n_kernels, n_features) and ``gammas`` (n_kernels,) make the kernels. Term p adds
    h(x) ⟨weights[p], x − c⟩ of kernel ``kernels[p]`` to output ``outputs[p]``; the terms are in
    order of their kernels, so that those of one kernel share its h. ``profile`` names h, a number
    for each row, or with ``per_feature`` one for each of its features.
    """

    anchors: np.ndarray
    gammas: np.ndarray
    weights: np.ndarray
    kernels: np.ndarray
    outputs: np.ndarray
    biases: np.ndarray
    profile: str
    per_feature: bool

    @property
    def n_features(self):
        return self.anchors.shape[1]

    @property
    def n_outputs(self):
        return len(self.biases)

    @property
    def dtype(self):
        return self.weights.dtype

    def __call__(self, X, n_jobs=None):
        """Scores, shape (n_rows, n_outputs); dense rows."""
        check_width(X, self.anchors.shape[1])
        scores = np.empty((len(X), len(self.biases)), dtype=self.weights.dtype)

        def work(block, start, stop):
            block.score(X[start:stop], *self._packed, scores[start:stop])

        self._run(work, len(X), n_jobs)
        return scores

    def support_score(self, X, n_jobs=None):
        """The largest h of any kernel (``per_feature``: mean of h), shape (n_rows,).

        With a bounded profile it is zero where no kernel reaches: all scores there are biases.
        """
        check_width(X, self.anchors.shape[1])
        support = np.empty(len(X), dtype=self.weights.dtype)
        anchors, gammas = self._packed[:2]

        def work(block, start, stop):
            block.support(X[start:stop], anchors, gammas, support[start:stop])

        self._run(work, len(X), n_jobs)
        return support

    def _run(self, work, n_rows, n_jobs):
        idle = []  # memory of finished blocks, for the next one of any thread

        def work_on_block(start, stop):
            block = idle.pop() if idle else self._new_block(min(_BLOCK_ROWS, n_rows))
            work(block, start, stop)
            idle.append(block)

        run_blocks(work_on_block, n_rows, _BLOCK_ROWS, n_jobs)

    def _new_block(self, n_rows):
        n_features = self.anchors.shape[1]
        n_shares = n_features if self.per_feature else 1
        return LaneBlock(
            PROFILES[self.profile], n_features, n_shares, len(self.biases), n_rows,
            self.weights.dtype,
        )  # fmt: skip

    @cached_property
    def _packed(self):
        """The model as the compiled passes take it: padded, in one type, terms by kernel."""
        dtype = self.weights.dtype
        return (
            pack(self.anchors, dtype),
            self.gammas.astype(dtype),
            pack(self.weights, dtype),
            np.searchsorted(self.kernels, np.arange(len(self.anchors) + 1)),
            self.outputs.astype(np.intp),
            self.biases.astype(dtype),
        )

    def __getstate__(self):
        """Fields only: a pickle has no use for what can be packed again."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def plain(self, X):
        """The same scores from the formula, term by term, in NumPy."""
        scores = np.tile(self.biases, (len(X), 1))
        for k, o, weights in zip(self.kernels, self.outputs, self.weights):
            away = X - self.anchors[k]
            squares = away**2
            if not self.per_feature:
                squares = squares.sum(axis=1, keepdims=True)
            shares = PROFILES[self.profile].values(squares, self.gammas[k])
            scores[:, o] += (shares * away) @ weights
        return scores

    @property
    def cost(self):
        """Distances and profiles of all kernels, then the terms."""
        n_kernels, n_features = self.anchors.shape
        n_shares = n_features if self.per_feature else 1
        work = (n_kernels + len(self.weights)) * n_features + n_kernels * n_shares
        linear = n_features * len(self.biases)
        arrays = (getattr(self, field.name) for field in fields(self))
        n_bytes = sum(array.nbytes for array in arrays if isinstance(array, np.ndarray))
        return Cost(int(work), work / linear, int(n_bytes))
