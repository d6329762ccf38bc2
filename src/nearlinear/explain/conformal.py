"""w(x) and b(x) of linear models that fade around anchors: Σ h(x) w, and b − Σ h(x) ⟨w, c⟩."""

import numpy as np

from .._compile import compiled_fast_sums, run_blocks
from ..kernels.conformal import PROFILES
from ..predictors.conformal_lanes import explain_features
from .linear import LinearParts

_BLOCK_NUMBERS = 1 << 16  # values of h at once: they stay in a core's cache


def explain_conformal(predictor, X, n_support, n_jobs):
    n_kernels, n_outputs = len(predictor.anchors), len(predictor.biases)
    found = LinearParts(X, n_outputs, n_kernels)
    found.active[...] = np.arange(n_kernels)
    found.intercepts[...] = predictor.biases
    terms = _Terms(predictor)
    blend = terms.blend_features if predictor.per_feature else terms.blend

    def work(start, stop):
        rows = slice(start, stop)
        blend(found.rows[rows], found.coefficients[rows], found.intercepts[rows], found.gates[rows])

    run_blocks(work, len(X), max(64, _BLOCK_NUMBERS // max(1, n_kernels)), n_jobs)
    return found.explanation("kernel")


class _Terms:
    """The terms of the sum in float64, those of one output side by side."""

    def __init__(self, predictor):
        self._profile = PROFILES[predictor.profile]
        self._anchors = predictor.anchors.astype(np.float64)
        self._gammas = predictor.gammas.astype(np.float64)
        self._weights = predictor.weights.astype(np.float64)
        self._kernels, self._outputs = predictor.kernels, predictor.outputs

    def blend(self, X, coefficients, intercepts, gates):
        """One h for a row and a kernel."""
        # the rows' differences from the anchors: products would cancel far from the origin
        squares = np.zeros((len(self._anchors), len(X)))
        _add_squares(np.ascontiguousarray(X.T), self._anchors, squares)
        shares = self._profile.values(squares, self._gammas[:, None]).T
        gates[...] = shares
        for o in range(intercepts.shape[1]):
            mine = np.flatnonzero(self._outputs == o)
            kernels, weights = self._kernels[mine], self._weights[mine]
            part = shares[:, kernels]
            coefficients[:, o] = part @ weights
            intercepts[:, o] -= part @ np.einsum("pd,pd->p", weights, self._anchors[kernels])

    def blend_features(self, X, coefficients, intercepts, gates):
        """One h for a row, a kernel and a feature: the model is a sum over features."""
        starts = np.searchsorted(self._kernels, np.arange(len(self._anchors) + 1))
        explain_features(
            self._profile, X, self._anchors, self._gammas, self._weights, starts, self._outputs,
            coefficients, intercepts, gates,
        )  # fmt: skip


@compiled_fast_sums
def _add_squares(turned, anchors, squares):
    """‖x − c‖² of every anchor and row; ``turned`` has a feature of all rows side by side."""
    for k in range(len(anchors)):
        total = squares[k]
        for d in range(len(turned)):
            x, c = turned[d], anchors[k, d]
            for i in range(len(total)):
                total[i] += (x[i] - c) * (x[i] - c)
