"""Predictors of others: on mapped rows, side by side, exponentials."""

from itertools import groupby

from ....kinds import kind_of
from .. import rows as c_rows
from ..literals import CSourceError, filled
from ..program import Part, lower
from .expansions import lower_pairwise
from .trees import affine_tables

_MAPPED = """
typedef struct {
    <MAP>_tables map;
    <INNER>_tables inner;
} $_tables;

static void $(const $_tables *m, const float *x, float *scores)
{
    float seen[@@_MAX_MAPPED];
    <MAP>(&m->map, x, seen);
    <INNER>(&m->inner, <ROW>seen, scores);
}
"""
_AFFINE = """
typedef struct {
    @_matrix matrix;
    const float *offsets;
    size_t n;
} $_tables;

static void $(const $_tables *m, const float *x, float *seen)
{
    for (size_t c = 0; c < m->n; c++)
        seen[c] = m->offsets[c] + @_dot(&m->matrix, c, x);
}
"""
_QUADRATIC = """
typedef struct {
    const float *center;
    float scale;
    size_t n_features;
} $_tables;

/* Products of scaled features in pairs, then these features. */
static void $(const $_tables *m, const float *x, float *seen)
{
    const size_t n = m->n_features;
    float *z = seen + n * (n + 1) / 2;
    for (size_t i = 0; i < n; i++)
        z[i] = (x[i] - m->center[i]) / m->scale;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++)
            *seen++ = z[i] * z[j];
}
"""
MANY = """
typedef struct {
<FIELDS>} $_tables;

static void $(const $_tables *m, const float *x, float *scores)
{
<LINES>}
"""
_EXPONENTIAL = """
typedef <INNER>_tables $_tables;

static void $(const $_tables *m, const float *x, float *scores)
{
    <INNER>(m, x, scores);
    for (size_t o = 0; o < <N>; o++)
        scores[o] = expf(scores[o]);
}
"""


def lower_mapped(predictor, program):
    if kind_of(predictor.map) == "WithGates":
        return _lower_gated_rows(predictor, program)
    inner, seen = lower(predictor.predictor, program), lower(predictor.map, program)
    return _lowered(seen, inner, "", program)


def lower_affine(part, program):
    c_rows.dot(program)
    tables = {**affine_tables(program, "matrix", "offsets", part.matrix), "n": len(part.matrix)}
    work = part.matrix[:, :-1].size
    return Part(program.define("affine", _AFFINE), tables, len(part.matrix), work)


def lower_quadratic(part, program):
    tables = {
        "center": program.vector("center", part.center),
        "scale": float(part.scale),
        "n_features": part.n_features,
    }
    n_columns = part.n_components
    return Part(program.define("quadratic", _QUADRATIC), tables, n_columns, n_columns)


def lower_with_gates(part, program):
    """Rows stay where they are: what is written beside them are the gates."""
    return lower(part.gate, program)


def _lower_gated_rows(predictor, program):
    kernels = predictor.predictor.kernels
    if len(kernels) != 1 or kind_of(kernels[0]) != "PairwiseNormalizedSum":
        raise CSourceError(
            "An expansion of gated rows has a C source only with a pairwise normalized sum of "
            "kernels: fit another method."
        )
    inner = lower_pairwise(predictor.predictor, program)
    return _lowered(lower(predictor.map, program), inner, "x, ", program)


def _lowered(seen, inner, row, program):
    program.at_least("MAPPED", seen.n_outputs)
    text = filled(_MAPPED, map=seen.function, inner=inner.function, row=row)
    function = program.define("mapped", text)
    tables = {"map": seen.tables, "inner": inner.tables}
    return Part(function, tables, inner.n_outputs, seen.multiply_adds + inner.multiply_adds)


def lower_stacked(predictor, program):
    """Parts that write their scores one after the other; those built alike share a loop."""
    parts = [lower(output, program) for output in predictor.outputs]
    fields, lines, tables, first = [], [], {}, 0
    for name, run in runs(parts):
        function, step = run[0].function, run[0].n_outputs
        place = (f"{first} + " if first else "") + ("o" if step == 1 else f"{step} * o")
        fields.append(field_of(function, name))
        lines.append(
            f"    for (size_t o = 0; o < m->n_{name}; o++)\n"
            f"        {function}(&m->{name}[o], x, scores + {place});\n"
        )
        tables |= records_of(name, run, program)
        first += step * len(run)
    text = filled(MANY, fields="".join(fields), lines="".join(lines))
    return Part(program.define("stack", text), tables, first, sum(p.multiply_adds for p in parts))


def lower_exponential(predictor, program):
    inner = lower(predictor.predictor, program)
    text = filled(_EXPONENTIAL, inner=inner.function, n=str(inner.n_outputs))
    function = program.define("exponential", text)
    return Part(function, inner.tables, inner.n_outputs, inner.multiply_adds)


def runs(parts):
    """Parts of one function that follow each other, with a name."""
    for number, (_, run) in enumerate(groupby(parts, key=lambda part: part.function)):
        yield f"parts_{number}", list(run)


def field_of(function, name):
    return f"    const {function}_tables *{name};\n    size_t n_{name};\n"


def records_of(name, run, program):
    records = program.constant("parts", f"{run[0].function}_tables", [p.tables for p in run])
    return {name: records, f"n_{name}": len(run)}
