"""Gates of components: how much each of them answers for a row."""

import numpy as np

from ...kinds import kind_of
from . import rows as c_rows
from .literals import CSourceError, filled
from .program import Part, lower

_SOFTMAX = """
static void $(float *values, size_t n)
{
    float largest = values[0];
    for (size_t q = 1; q < n; q++)
        if (values[q] > largest)
            largest = values[q];
    for (size_t q = 0; q < n; q++)
        values[q] = expf(values[q] - largest);
    @_normalize(values, n);
}
"""
_LINEAR = """
typedef struct {
    @_matrix directions;
    const float *offsets;
    size_t n;
} $_tables;

static void $(const $_tables *m, const float *x, float *gates)
{
    for (size_t q = 0; q < m->n; q++)
        gates[q] = <VALUE>;<FINISH>
}
"""
_SCORE = "m->offsets[q] + @_dot(&m->directions, q, x)"
SOFTMAX = """
    @_softmax(gates, m->n);"""
NORMALIZE = """
    @_normalize(gates, m->n);"""
_SIGMOID = f"0.5f + 0.5f * tanhf(0.5f * ({_SCORE}))"
_DISTANCE = "-m->offsets[q] * @_square(&m->directions, q, x)"

_WRAPPED = """
typedef struct {
    <INNER>_tables inner;<FIELD>
    size_t n;
} $_tables;

static void $(const $_tables *m, const float *x, float *gates)
{
    <INNER>(&m->inner, x, gates);<LINES>
}
"""
_NUMBER = """
    float number;"""
_SCORES = """
    for (size_t q = 0; q < m->n; q++)
        gates[q] *= m->number;
    @_softmax(gates, m->n);"""
_CLIP = """
    for (size_t q = 0; q < m->n; q++)
        gates[q] = gates[q] < m->number ? m->number : gates[q] > 1.0f ? 1.0f : gates[q];"""
_ROUND = """
    for (size_t q = 0; q < m->n; q++)
        gates[q] = gates[q] < m->number ? 0.0f : gates[q] > 1.0f - m->number ? 1.0f : gates[q];"""
_LENGTH = """
    float squares = 0.0f;
    for (size_t q = 0; q < m->n; q++)
        squares += gates[q] * gates[q];
    squares = sqrtf(squares);
    for (size_t q = 0; q < m->n; q++)
        gates[q] /= squares;"""
_REPEAT_FIELD = """
    size_t count;"""
_REPEAT = """
    for (size_t q = m->n; q-- > 0;)
        gates[q] = gates[q / m->count];"""
_VIEW = """
typedef struct {
    <INNER>_tables inner;
    const uint16_t *columns;
    size_t n_columns;
} $_tables;

static void $(const $_tables *m, const float *x, float *gates)
{
    float seen[@@_MAX_SEEN];
    for (size_t d = 0; d < m->n_columns; d++)
        seen[d] = x[m->columns[d]];
    <INNER>(&m->inner, seen, gates);
}
"""


def _softmax(program):
    c_rows.normalize(program)
    return program.define("softmax", _SOFTMAX)


def gate_part(program, value, finish, directions, offsets=None):
    """A gate of as many components as there are rows of ``directions``.

    ``value`` is what component q makes of x, and ``finish`` lines that go on with ``gates``. Both
    may call @_dot and @_square of &m->directions, @_softmax and @_normalize.
    """
    text = filled(_LINEAR, value=value, finish=finish)
    for call in (c_rows.dot, c_rows.square, c_rows.normalize, _softmax):
        if f"@_{call.__name__.strip('_')}(" in text:
            call(program)
    offsets = np.zeros(len(directions)) if offsets is None else offsets
    tables = {
        "directions": program.matrix("directions", directions),
        "offsets": program.vector("gate_offsets", offsets),
        "n": len(directions),
    }
    return Part(program.define("gate", text), tables, len(directions), int(np.size(directions)))


def _linear(value, finish):
    return lambda gate, program: gate_part(program, value, finish, gate.directions, gate.offsets)


def _lower_gaussian(gate, program):
    narrow = np.exp(-2.0 * np.clip(gate.log_widths, -20.0, 20.0)) / gate.scale
    return gate_part(program, _DISTANCE, SOFTMAX, gate.centers, narrow)


def _lower_view(gate, program):
    if kind_of(gate.view) != "Columns":
        raise CSourceError(
            "A gate that sees rows through a function has no C source: fit with gating_features "
            "as a list of columns."
        )
    inner = lower(gate.gate, program)
    columns = gate.view.columns
    program.at_least("SEEN", len(columns))
    function = program.define("view", filled(_VIEW, inner=inner.function))
    tables = {
        "inner": inner.tables,
        "columns": program.indices("gate_columns", columns),
        "n_columns": len(columns),
    }
    return Part(function, tables, inner.n_outputs, inner.multiply_adds)


def _wrapped(name, inside, lines, **field):
    """A gate that does something to what the part in the field ``inside`` gives.

    ``number=`` or ``count=`` names a field of the gate that the lines read.
    """

    def lower_wrapped(gate, program):
        if "@_softmax(" in lines:
            _softmax(program)
        known = {kind: getattr(gate, own) for kind, own in field.items()}
        return _wrap(name, lower(getattr(gate, inside), program), program, lines, **known)

    return lower_wrapped


def _wrap(name, inner, program, lines, count=None, number=None):
    n = inner.n_outputs * (count or 1)
    field, tables = "", {"inner": inner.tables, "n": n}
    if number is not None:
        field, tables = _NUMBER, {**tables, "number": float(number)}
    if count is not None:
        field, tables = _REPEAT_FIELD, {**tables, "count": count}
    text = filled(_WRAPPED, inner=inner.function, field=field, lines=lines)
    return Part(program.define(name, text), tables, n, inner.multiply_adds + n)


# A value is ranked by how many come before it in ascending order, the first of equals first.
_TOP_AND_BOTTOM = """
typedef struct {
    size_t count;
    size_t n;
} $_tables;

static void $(const $_tables *m, const float *values, float *gates)
{
    for (size_t q = 0; q < m->n; q++) {
        size_t before = 0;
        for (size_t p = 0; p < m->n; p++)
            before += values[p] < values[q] || (!(values[q] < values[p]) && p < q);
        gates[q] = 0.0f;
        if (before < m->count)
            gates[q] += 0.5f;
        if (before >= m->n - m->count)
            gates[q] += 0.5f;
    }
}
"""


def _lower_top_and_bottom(gate, program):
    """Of scores; how many there are the blend says."""
    return Part(program.define("top_and_bottom", _TOP_AND_BOTTOM), {"count": gate.count}, 0, 0)


GATES = {
    "Softmax": _linear(_SCORE, SOFTMAX),
    "Sigmoid": _linear(_SIGMOID, ""),
    "GaussianGate": _lower_gaussian,
    "Viewing": _lower_view,
    "Rounded": _wrapped("rounded", "gate", _ROUND, number="margin"),
    "SoftmaxOf": _wrapped("softmax_of", "scores", _SCORES, number="sharpness"),
    "Clipped": _wrapped("clipped", "scores", _CLIP, number="floor"),
    "UnitLength": _wrapped("unit_length", "gate", _LENGTH),
    "Repeated": _wrapped("repeated", "gate", _REPEAT, count="count"),
    "TopAndBottom": _lower_top_and_bottom,
}
