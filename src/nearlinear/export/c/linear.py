"""Local linear models around anchors: the nearest anchors, their codes, the blend."""

import numpy as np

from ...gates.anchors import InverseDistance, SoftAssignment
from . import rows as c_rows
from .program import Part

_TABLES = """
typedef struct {
    @_matrix anchors;<FIELDS>
    const float *biases;
    size_t n_anchors;
    size_t n_neighbors;
    size_t n_outputs;
    float number;
} $_tables;
"""

# Insertion into a short sorted list: no array of all distances, and the first of equals wins.
_NEAREST = """
/* The nearest anchors and how far they are, nearest first. */
static void $_nearest(const $_tables *m, const float *x,
                      size_t *nearest, float *away)
{
    for (size_t i = 0; i < m->n_neighbors; i++) {
        away[i] = 3e38f;
        nearest[i] = 0;
    }
    for (size_t j = 0; j < m->n_anchors; j++) {
        const float h = <DISTANCE>;
        size_t place = m->n_neighbors - 1;
        if (!(h < away[place]))
            continue;
        while (place > 0 && h < away[place - 1]) {
            away[place] = away[place - 1];
            nearest[place] = nearest[place - 1];
            place--;
        }
        away[place] = h;
        nearest[place] = j;
    }
}
"""
# Half a squared distance up to a term that all anchors share: one product for each anchor.
_HALF = "m->offsets[j] - @_dot(&m->anchors, j, x)"
_WHOLE = "@_square(&m->anchors, j, x)"

_SOFT = """
    const float smallest = codes[0];
    for (size_t i = 0; i < m->n_neighbors; i++)
        codes[i] = expf(m->number * (smallest - codes[i]));
"""
_INVERSE = """
    for (size_t i = 0; i < m->n_neighbors; i++)
        codes[i] = 1.0f / sqrtf(codes[i] > m->number ? codes[i] : m->number);
"""
_OFFSETS = """
    const float *offsets;"""

# Elimination without pivots: the matrix is positive definite.
_REBUILD = """
/* Weights with which the nearest anchors best rebuild x, up to a common factor. */
static void $_rebuild(const $_tables *m, const float *x,
                      const size_t *nearest, float *codes)
{
    float gram[@@_MAX_NEIGHBORS * @@_MAX_NEIGHBORS];
    const size_t k = m->n_neighbors;
    float ridge = 0.0f;
    for (size_t a = 0; a < k; a++) {
        for (size_t b = 0; b <= a; b++) {
            float sum = 0.0f;
            for (size_t d = 0; d < m->anchors.width; d++)
                sum += (@_entry(&m->anchors, nearest[a], d) - x[d])
                     * (@_entry(&m->anchors, nearest[b], d) - x[d]);
            gram[a * k + b] = sum;
            gram[b * k + a] = sum;
        }
        ridge += m->number * gram[a * k + a];
        codes[a] = 1.0f;
    }
    if (ridge < 1e-30f)
        ridge = 1e-30f;
    for (size_t a = 0; a < k; a++)
        gram[a * k + a] += ridge;
    for (size_t p = 0; p < k; p++) {
        for (size_t a = p + 1; a < k; a++) {
            const float factor = gram[a * k + p] / gram[p * k + p];
            for (size_t b = p; b < k; b++)
                gram[a * k + b] -= factor * gram[p * k + b];
            codes[a] -= factor * codes[p];
        }
    }
    for (size_t p = k; p-- > 0;) {
        for (size_t b = p + 1; b < k; b++)
            codes[p] -= gram[p * k + b] * codes[b];
        codes[p] /= gram[p * k + p];
    }
}
"""

_BLEND = """
static void $(const $_tables *m, const float *x, float *scores)
{
    size_t nearest[@@_MAX_NEIGHBORS];
    float codes[@@_MAX_NEIGHBORS];
    $_nearest(m, x, nearest, codes);<CODES>    @_share(codes, m->n_neighbors);
    for (size_t o = 0; o < m->n_outputs; o++)
        scores[o] = 0.0f;
    for (size_t i = 0; i < m->n_neighbors; i++) {
        for (size_t o = 0; o < m->n_outputs; o++) {
            const size_t row = nearest[i] * m->n_outputs + o;
            scores[o] += codes[i] * <LOCAL>;
        }
    }
}
"""


def lower_locally_linear(predictor, program):
    """The C of a ``LocallyLinear``."""
    gate = predictor.gate
    n_anchors, n_features = gate.anchors.shape
    width, n_outputs = predictor.weights.shape[1:]
    program.at_least("NEIGHBORS", gate.n_neighbors)
    metric = getattr(gate, "metric", None)
    directions = gate.anchors if metric is None else gate.anchors * metric
    tables = {
        "anchors": program.matrix("anchors", directions),
        "biases": program.vector("biases", predictor.biases),
        "n_anchors": n_anchors,
        "n_neighbors": gate.n_neighbors,
        "n_outputs": n_outputs,
    }
    work = n_anchors * n_features + gate.n_neighbors * (width + 1) * n_outputs
    c_rows.share(program)
    if isinstance(gate, SoftAssignment):
        c_rows.dot(program)
        parts = (_OFFSETS, _HALF, "", _SOFT)
        offsets = 0.5 * np.einsum("md,md->m", gate.anchors, directions)
        tables["offsets"] = program.vector("offsets", offsets)
        tables["number"] = 2.0 * float(gate.sharpness)
    elif isinstance(gate, InverseDistance):
        c_rows.square(program)
        parts = ("", _WHOLE, "", _INVERSE)
        # so small that a row that is an anchor gets the code (1, 0, ..., 0)
        tables["number"] = 1e-14 * max(1.0, float((gate.anchors**2).sum(axis=1).max()))
    else:
        c_rows.square(program)
        parts = ("", _WHOLE, _REBUILD, "\n    $_rebuild(m, x, nearest, codes);\n")
        tables["number"] = float(gate.ridge)
        work += gate.n_neighbors * (gate.n_neighbors + 1) // 2 * n_features
        work += gate.n_neighbors**3 // 3
    if width:
        c_rows.dot(program)
        rows = predictor.weights.transpose(0, 2, 1)
        tables["weights"] = program.matrix("weights", rows)
    return Part(program.define("local", _text(*parts, width > 0)), tables, n_outputs, work)


def _text(offsets, distance, rebuild, codes, has_weights):
    weights = "\n    @_matrix weights;" if has_weights else ""
    local = "(m->biases[row] + @_dot(&m->weights, row, x))" if has_weights else "m->biases[row]"
    text = _TABLES.replace("<FIELDS>", offsets + weights)
    text += _NEAREST.replace("<DISTANCE>", distance) + rebuild
    return text + _BLEND.replace("<CODES>", codes).replace("<LOCAL>", local)
