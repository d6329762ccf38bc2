"""w(x) and b(x) of models that blend linear ones by a gate."""

import numpy as np
from scipy.sparse import issparse

from .._compile import compiled_fast_sums, run_blocks
from ..gates.blend import rows_per_block
from ..predictors.locally_linear import DENSE_BLOCK
from .record import Explanation

# Sparse rows are told in dense numbers, up to so many.
_MOST_NUMBERS = 10**8


def explain_locally_linear(predictor, X, n_support, n_jobs):
    if not predictor.is_sparse:
        return _explain_dense(predictor, X, n_jobs)
    width, n_outputs = predictor.weights.shape[1:]
    found = LinearParts(X, n_outputs, predictor.gate.n_neighbors)
    models = np.ascontiguousarray(predictor.weights.transpose(0, 2, 1))
    if width < X.shape[1]:  # local models are constants
        models = np.zeros((len(models), n_outputs, X.shape[1]), dtype=models.dtype)

    def work(start, stop):
        # gates in the model's own precision: rounded otherwise, other anchors might be nearest
        indices, codes = predictor.gate.codes(X[start:stop])
        found.active[start:stop], found.gates[start:stop] = indices, codes
        blend_models(indices, codes, models, found.coefficients[start:stop])
        blend_models(indices, codes, predictor.biases[:, None], found.intercepts[start:stop, None])

    run_blocks(work, X.shape[0], rows_per_block(X.shape[1]), n_jobs)
    if predictor.intercept is not None:
        found.intercepts += predictor.intercept
    return found.explanation("anchor")


def _explain_dense(predictor, X, n_jobs):
    n_models, _, n_outputs = predictor.weights.shape
    found = LinearParts(X, n_outputs, n_models)
    weights = np.ascontiguousarray(predictor.weights.transpose(2, 0, 1), dtype=np.float64)
    biases = predictor.biases.astype(np.float64)
    intercept = 0.0 if predictor.intercept is None else predictor.intercept
    found.active[...] = np.arange(n_models)

    def work(start, stop):
        gates = np.asarray(predictor.gate(X[start:stop]), dtype=np.float64)
        found.gates[start:stop] = gates
        for output in range(n_outputs):
            np.matmul(gates, weights[output], out=found.coefficients[start:stop, output])
        found.intercepts[start:stop] = gates @ biases + intercept

    run_blocks(work, X.shape[0], DENSE_BLOCK, n_jobs)
    return found.explanation("component")


def explain_additive(predictor, X, n_support, n_jobs):
    """Of each column the line of the interval that the row is in."""
    found = LinearParts(X, predictor.n_outputs, 1)
    found.active[...], found.gates[...] = 0, 1.0
    found.coefficients[...] = predictor.weights.T.astype(np.float64)
    found.intercepts[...] = predictor.intercept
    for d in predictor.bent_columns:
        mine = slice(predictor.firsts[d], predictor.firsts[d + 1])
        knots, values = (a[mine].astype(np.float64) for a in (predictor.knots, predictor.values))
        slopes = np.pad(np.diff(values, axis=0) / np.diff(knots)[:, None], ((1, 1), (0, 0)))
        place = np.searchsorted(knots, found.rows[:, d])  # 0 below the first knot
        nearest = np.maximum(place - 1, 0)
        found.coefficients[:, :, d] += slopes[place]
        found.intercepts += values[nearest] - slopes[place] * knots[nearest, None]
    return found.explanation("component")


def require_room(X, n_outputs, n_parts):
    """Refuse sparse rows that are too many for dense parts."""
    n_numbers = X.shape[0] * n_outputs * n_parts
    if issparse(X) and n_numbers > _MOST_NUMBERS:
        most = _MOST_NUMBERS // (n_outputs * n_parts)
        raise ValueError(
            f"Explaining {X.shape[0]} sparse rows would take {n_numbers:.2g} coefficients, which "
            f"are dense; explain at most {most} rows at a time."
        )


class LinearParts:
    """Room for the explanation of rows, which blocks of them fill; ``n_active`` may have axes."""

    def __init__(self, X, n_outputs, *n_active):
        n_rows, n_features = X.shape
        require_room(X, n_outputs, n_features)
        # a copy: what is explained must not change with the caller's rows
        self.rows = (X.toarray() if issparse(X) else X).astype(np.float64, order="C")
        self.coefficients = np.empty((n_rows, n_outputs, n_features))
        self.intercepts = np.empty((n_rows, n_outputs))
        self.active = np.empty((n_rows, *n_active), dtype=np.int32)
        self.gates = np.empty((n_rows, *n_active))

    def explanation(self, component):
        return Explanation(
            self.intercepts, self.coefficients, self.rows, component, self.active, self.gates
        )


def blend_models(active, gates, models, out, *, is_first=True):
    """out[i] = Σ_p gates[i, p] models[active[i, p]], or that added to what is there already.

    ``models`` has shape (n_models, n_outputs, n_features) and ``out``, in float64, (n_rows,
    n_outputs, n_features).
    """
    gates = np.ascontiguousarray(gates, dtype=np.float64)
    _blend(active, gates, models.reshape(len(models), -1), is_first, out.reshape(len(out), -1))


@compiled_fast_sums
def _blend(active, gates, models, is_first, out):
    n_active = active.shape[1]
    for i in range(len(active)):
        total = out[i]
        gate, model = gates[i, 0], models[active[i, 0]]
        if is_first:
            for d in range(len(total)):
                total[d] = gate * model[d]
        else:
            for d in range(len(total)):
                total[d] += gate * model[d]
        # two models at a time, so that sums are read and written half as often
        for p in range(1, n_active - 1, 2):
            g0, g1 = gates[i, p], gates[i, p + 1]
            m0, m1 = models[active[i, p]], models[active[i, p + 1]]
            for d in range(len(total)):
                total[d] += g0 * m0[d] + g1 * m1[d]
        if n_active % 2 == 0:
            gate, model = gates[i, n_active - 1], models[active[i, n_active - 1]]
            for d in range(len(total)):
                total[d] += gate * model[d]
