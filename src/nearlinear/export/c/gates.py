"""Gates of components: how much each of them answers for a row."""

import numpy as np

from ...gates.learned import Columns, GaussianGate, Rounded, Sigmoid, Softmax, Viewing
from ...gates.scores import Clipped, Repeated, SoftmaxOf, UnitLength
from ...predictors.component_scores import ComponentScores
from ...predictors.kernel_expansion import KernelExpansion
from . import rows as c_rows
from .expansions import lower_expansion
from .literals import CSourceError
from .program import Part

_SOFTMAX = """
static void $(float *values, size_t n)
{
    float largest = values[0];
    for (size_t q = 1; q < n; q++)
        if (values[q] > largest)
            largest = values[q];
    for (size_t q = 0; q < n; q++)
        values[q] = expf(values[q] - largest);
    @_share(values, n);
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
_FINISH_SOFTMAX = """
    @_softmax(gates, m->n);"""
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


def lower_gate(gate, program):
    """The C of a gate; its function writes as many values as ``n_outputs`` says."""
    if isinstance(gate, Softmax | Sigmoid):
        return _lower_linear(gate, program)
    if isinstance(gate, GaussianGate):
        return _lower_gaussian(gate, program)
    if isinstance(gate, Viewing) and isinstance(gate.view, Columns):
        return _lower_view(gate, program)
    if isinstance(gate, SoftmaxOf) and _has_scores(gate):
        _softmax(program)
        inner = lower_expansion(gate.scores, program)
        return _wrap("softmax_of", inner, program, _SCORES, number=gate.sharpness)
    if isinstance(gate, Clipped) and _has_scores(gate):
        inner = lower_expansion(gate.scores, program)
        return _wrap("clipped", inner, program, _CLIP, number=gate.floor)
    if isinstance(gate, Rounded):
        inner = lower_gate(gate.gate, program)
        return _wrap("rounded", inner, program, _ROUND, number=gate.margin)
    if isinstance(gate, UnitLength):
        return _wrap("unit_length", lower_gate(gate.gate, program), program, _LENGTH)
    if isinstance(gate, Repeated):
        return _wrap("repeated", lower_gate(gate.gate, program), program, _REPEAT, gate.count)
    seen = "that sees rows through a function " if isinstance(gate, Viewing) else ""
    raise CSourceError(
        f"A {type(gate).__name__} gate {seen}has no C source: fit with gate='softmax', 'sigmoid' "
        "or 'gaussian', on all features or on a list of them."
    )


def _has_scores(gate):
    return isinstance(gate.scores, KernelExpansion | ComponentScores)


def _softmax(program):
    c_rows.share(program)
    return program.define("softmax", _SOFTMAX)


def _lower_linear(gate, program):
    c_rows.dot(program)
    if isinstance(gate, Softmax):
        _softmax(program)
        value, finish = _SCORE, _FINISH_SOFTMAX
    else:
        value, finish = _SIGMOID, ""
    text = _LINEAR.replace("<VALUE>", value).replace("<FINISH>", finish)
    return _base_part(program.define("gate", text), gate.directions, gate.offsets, program)


def _lower_gaussian(gate, program):
    c_rows.square(program)
    _softmax(program)
    text = _LINEAR.replace("<VALUE>", _DISTANCE).replace("<FINISH>", _FINISH_SOFTMAX)
    narrow = np.exp(-2.0 * np.clip(gate.log_widths, -20.0, 20.0)) / gate.scale
    return _base_part(program.define("gate", text), gate.centers, narrow, program)


def _base_part(function, directions, offsets, program):
    tables = {
        "directions": program.matrix("directions", directions),
        "offsets": program.vector("gate_offsets", offsets),
        "n": len(offsets),
    }
    return Part(function, tables, len(offsets), int(np.size(directions)))


def _lower_view(gate, program):
    inner = lower_gate(gate.gate, program)
    columns = gate.view.columns
    program.at_least("SEEN", len(columns))
    function = program.define("view", _VIEW.replace("<INNER>", inner.function))
    tables = {
        "inner": inner.tables,
        "columns": program.indices("gate_columns", columns),
        "n_columns": len(columns),
    }
    return Part(function, tables, inner.n_outputs, inner.multiply_adds)


def _wrap(name, inner, program, lines, count=None, number=None):
    """Something done to the values of another part."""
    n = inner.n_outputs * (count or 1)
    field, tables = "", {"inner": inner.tables, "n": n}
    if number is not None:
        field, tables = _NUMBER, {**tables, "number": float(number)}
    if count is not None:
        field, tables = _REPEAT_FIELD, {**tables, "count": count}
    text = _WRAPPED.replace("<INNER>", inner.function).replace("<FIELD>", field)
    function = program.define(name, text.replace("<LINES>", lines))
    return Part(function, tables, n, inner.multiply_adds + n)
