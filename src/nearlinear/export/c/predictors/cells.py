"""Linear models that fade around the landmarks of a row's cell."""

from .. import rows as c_rows
from ..literals import filled
from ..program import Part

_TEXT = """
typedef struct {
    @_matrix centers;<GROUP_FIELDS>
    @_matrix landmarks;
    const uint16_t *starts;
    @_matrix slopes;
    const float *offsets;
    const float *biases;
    size_t n_cells;
    size_t n_outputs;
    float gamma;
} $_tables;

/* The nearest of some centers. */
static size_t $_nearest(const @_matrix *centers, size_t first, size_t last, const float *x)
{
    size_t best = first;
    float least = 3e38f;
    for (size_t c = first; c < last; c++) {
        const float square = @_square(centers, c, x);
        if (square < least) {
            least = square;
            best = c;
        }
    }
    return best;
}

static void $(const $_tables *m, const float *x, float *scores)
{
    float away[@@_MAX_FEATURES];<FIND>
    for (size_t o = 0; o < m->n_outputs; o++)
        scores[o] = m->biases[cell * m->n_outputs + o];
    for (size_t j = m->starts[cell]; j < m->starts[cell + 1]; j++) {
        float square = 0.0f;
        for (size_t d = 0; d < m->landmarks.width; d++) {
            away[d] = x[d] - @_entry(&m->landmarks, j, d);
            square += away[d] * away[d];
        }
        const float h = expf(-m->gamma * square);
        for (size_t o = 0; o < m->n_outputs; o++) {
            const size_t row = j * m->n_outputs + o;
            scores[o] += h * (m->offsets[row] + @_dot(&m->slopes, row, away));
        }
    }
}
"""
_FLAT = """
    const size_t cell = $_nearest(&m->centers, 0, m->n_cells, x);"""
_GROUP_FIELDS = """
    @_matrix groups;
    const uint16_t *firsts;
    size_t n_groups;"""
_GROUPED = """
    const size_t group = $_nearest(&m->groups, 0, m->n_groups, x);
    const size_t cell = $_nearest(&m->centers, m->firsts[group], m->firsts[group + 1], x);"""


def lower_gaussian_cells(predictor, program):
    """The C of a ``GaussianCells``."""
    c_rows.square(program)
    c_rows.dot(program)
    cells, n_features = predictor.cells, predictor.n_features
    program.at_least("FEATURES", n_features)
    tables = {
        "centers": program.matrix("centers", cells.centers),
        "landmarks": program.matrix("landmarks", predictor.landmarks),
        "starts": program.indices("landmark_starts", predictor.starts),
        "slopes": program.matrix("slopes", predictor.slopes),
        "offsets": program.vector("offsets", predictor.offsets),
        "biases": program.vector("biases", predictor.biases),
        "n_cells": len(cells),
        "n_outputs": predictor.n_outputs,
        "gamma": float(predictor.gamma),
    }
    fields, find = "", _FLAT
    if cells.groups is not None:
        fields, find = _GROUP_FIELDS, _GROUPED
        tables["groups"] = program.matrix("groups", cells.groups)
        tables["firsts"] = program.indices("group_firsts", cells.firsts)
        tables["n_groups"] = len(cells.groups)
    function = program.define("cells", filled(_TEXT, group_fields=fields, find=find))
    return Part(function, tables, predictor.n_outputs, predictor.cost.multiply_adds)
