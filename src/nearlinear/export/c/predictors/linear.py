"""Local linear models around anchors: the nearest anchors, their codes, the blend."""

from dataclasses import dataclass

import numpy as np

from ....kinds import rule_for
from .. import rows as c_rows
from ..literals import CSourceError, filled
from ..program import Part

_TABLES = """
typedef struct {
    @_matrix anchors;<FIELDS>
    const float *biases;<INTERCEPT_FIELD>
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
    $_nearest(m, x, nearest, codes);<CODES>    @_normalize(codes, m->n_neighbors);
    for (size_t o = 0; o < m->n_outputs; o++)
        scores[o] = <INTERCEPT>;
    for (size_t i = 0; i < m->n_neighbors; i++) {
        for (size_t o = 0; o < m->n_outputs; o++) {
            const size_t row = nearest[i] * m->n_outputs + o;
            scores[o] += codes[i] * <LOCAL>;
        }
    }
}
"""

_DENSE = """
typedef struct {
    <GATE>_tables gate;
    @_matrix weights;
    const float *biases;<INTERCEPT_FIELD>
    size_t n;
    size_t n_outputs;
} $_tables;

static void $(const $_tables *m, const float *x, float *scores)
{
    float gates[@@_MAX_COMPONENTS];
    <GATE>(&m->gate, x, gates);
    for (size_t o = 0; o < m->n_outputs; o++)
        scores[o] = <INTERCEPT>;
    for (size_t q = 0; q < m->n; q++) {
        if (!(gates[q] > 0.0f))
            continue;
        for (size_t o = 0; o < m->n_outputs; o++) {
            const size_t row = q * m->n_outputs + o;
            scores[o] += gates[q] * (m->biases[row] + @_dot(&m->weights, row, x));
        }
    }
}
"""


def lower_locally_linear(predictor, program):
    """The C of a ``LocallyLinear``."""
    gate = rule_for("c", predictor.gate, CSourceError)(predictor.gate, program)
    if isinstance(gate, Part):
        return _lower_dense(predictor, gate, program)
    n_neighbors = predictor.gate.n_neighbors
    width, n_outputs = predictor.weights.shape[1:]
    program.at_least("NEIGHBORS", n_neighbors)
    c_rows.normalize(program)
    tables = {
        **gate.tables,
        "biases": program.vector("biases", predictor.biases),
        "n_neighbors": n_neighbors,
        "n_outputs": n_outputs,
    }
    if width:
        c_rows.dot(program)
        rows = predictor.weights.transpose(0, 2, 1)
        tables["weights"] = program.matrix("weights", rows)
    work = gate.multiply_adds + n_neighbors * (width + 1) * n_outputs
    text = _with_intercept(_text(gate, width > 0), predictor, tables, program)
    return Part(program.define("local", text), tables, n_outputs, work)


def _with_intercept(text, predictor, tables, program):
    field, value = "", "0.0f"
    if predictor.intercept is not None:
        field, value = "\n    const float *intercept;", "m->intercept[o]"
        tables["intercept"] = program.vector("intercept", predictor.intercept)
    return filled(text, intercept_field=field, intercept=value)


def _lower_dense(predictor, gate, program):
    """Every component answers, unless its gate is shut."""
    c_rows.dot(program)
    n, width, n_outputs = predictor.weights.shape
    program.at_least("COMPONENTS", n)
    text = filled(_DENSE, gate=gate.function)
    tables = {
        "gate": gate.tables,
        "weights": program.matrix("weights", predictor.weights.transpose(0, 2, 1)),
        "biases": program.vector("biases", predictor.biases),
        "n": n,
        "n_outputs": n_outputs,
    }
    work = gate.multiply_adds + n * (width + 2) * n_outputs
    text = _with_intercept(text, predictor, tables, program)
    return Part(program.define("gated_linear", text), tables, n_outputs, work)


@dataclass(frozen=True)
class Nearest:
    """What a gate of the nearest anchors brings to a blend: tables, and pieces of text."""

    tables: dict
    multiply_adds: int
    distance: str
    codes: str
    fields: str = ""
    functions: str = ""


def _anchors(program, anchors, number):
    return {
        "anchors": program.matrix("anchors", anchors),
        "n_anchors": len(anchors),
        "number": float(number),
    }


def _soft_assignment(gate, program):
    c_rows.dot(program)
    directions = gate.anchors if gate.metric is None else gate.anchors * gate.metric
    offsets = 0.5 * np.einsum("md,md->m", gate.anchors, directions)
    tables = _anchors(program, directions, 2.0 * gate.sharpness)
    tables["offsets"] = program.vector("offsets", offsets)
    return Nearest(tables, gate.anchors.size, _HALF, _SOFT, fields=_OFFSETS)


def _inverse_distance(gate, program):
    c_rows.square(program)
    # so small that a row that is an anchor gets the code (1, 0, ..., 0)
    floor = 1e-14 * max(1.0, float((gate.anchors**2).sum(axis=1).max()))
    return Nearest(_anchors(program, gate.anchors, floor), gate.anchors.size, _WHOLE, _INVERSE)


def _reconstruction(gate, program):
    c_rows.square(program)
    k, n_features = gate.n_neighbors, gate.anchors.shape[1]
    work = gate.anchors.size + k * (k + 1) // 2 * n_features + k**3 // 3
    codes = "\n    $_rebuild(m, x, nearest, codes);\n"
    tables = _anchors(program, gate.anchors, gate.ridge)
    return Nearest(tables, work, _WHOLE, codes, functions=_REBUILD)


SPARSE_GATES = {
    "SoftAssignment": _soft_assignment,
    "InverseDistance": _inverse_distance,
    "ReconstructionCodes": _reconstruction,
}


def _text(gate, has_weights):
    weights = "\n    @_matrix weights;" if has_weights else ""
    local = "(m->biases[row] + @_dot(&m->weights, row, x))" if has_weights else "m->biases[row]"
    text = _TABLES + _NEAREST + gate.functions + _BLEND
    fields = gate.fields + weights
    return filled(text, fields=fields, distance=gate.distance, codes=gate.codes, local=local)
