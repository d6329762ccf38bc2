"""Components blended by gates: sums, votes, selections, local linear models, many outputs."""

from itertools import groupby

from ...kinds import kind_of
from . import rows as c_rows
from .expansions import lower_pairwise
from .literals import CSourceError
from .program import Part, lower

_BLEND = """
typedef struct {
    <GATE>_tables gate;
    <COMPONENTS>_tables components;
    float bias;
    size_t n;
} $_tables;

static void $(const $_tables *m, const float *x, float *score)
{
    float gates[@@_MAX_COMPONENTS];
    float values[@@_MAX_COMPONENTS];
    <GATE>(&m->gate, x, gates);
    <COMPONENTS>(&m->components, x, values);
    score[0] = m->bias;
    for (size_t q = 0; q < m->n; q++)
        score[0] += gates[q] * <VALUE>;
}
"""
_SELECTED = """
typedef struct {
    <COMPONENTS>_tables components;
    float bias;
    size_t n;
    size_t n_selected;
} $_tables;

static void $(const $_tables *m, const float *x, float *score)
{
    float values[@@_MAX_COMPONENTS];
    <COMPONENTS>(&m->components, x, values);
    for (size_t q = 1; q < m->n; q++) {
        const float value = values[q];
        size_t place = q;
        for (; place > 0 && value < values[place - 1]; place--)
            values[place] = values[place - 1];
        values[place] = value;
    }
    score[0] = m->bias;
    for (size_t q = 0; q < m->n_selected; q++)
        score[0] += 0.5f * (values[q] + values[m->n - 1 - q]);
}
"""
_LINEAR = """
typedef struct {
    <GATE>_tables gate;
    @_matrix weights;
    const float *biases;
    float bias;
    size_t n;
} $_tables;

static void $(const $_tables *m, const float *x, float *score)
{
    float gates[@@_MAX_COMPONENTS];
    <GATE>(&m->gate, x, gates);
    score[0] = m->bias;
    for (size_t q = 0; q < m->n; q++)
        if (gates[q] > 0.0f)
            score[0] += gates[q] * (m->biases[q] + @_dot(&m->weights, q, x));
}
"""
_ROWS = """
typedef struct {
    <GATE>_tables gate;
    <COMPONENTS>_tables expansion;
} $_tables;

static void $(const $_tables *m, const float *x, float *scores)
{
    float gates[@@_MAX_COMPONENTS];
    <GATE>(&m->gate, x, gates);
    <COMPONENTS>(&m->expansion, x, gates, scores);
}
"""
_STACK = """
typedef struct {
<FIELDS>} $_tables;

static void $(const $_tables *m, const float *x, float *scores)
{
<LINES>}
"""


def lower_gated_expansion(predictor, program):
    return _lower_blend(predictor, "values[q]", float(predictor.bias), program)


def lower_gated_vote(predictor, program):
    return _lower_blend(predictor, "tanhf(values[q])", 0.0, program)


def _lower_blend(predictor, value, bias, program):
    components = lower(predictor.components, program)
    gate = lower(predictor.gate, program)
    n = components.n_outputs
    program.at_least("COMPONENTS", n)
    function = program.define("blend", _named(_BLEND, gate, components).replace("<VALUE>", value))
    tables = {"gate": gate.tables, "components": components.tables, "bias": bias, "n": n}
    return Part(function, tables, 1, components.multiply_adds + gate.multiply_adds + n)


def lower_selected(predictor, program):
    components = lower(predictor.components, program)
    n = components.n_outputs
    program.at_least("COMPONENTS", n)
    function = program.define("selected", _named(_SELECTED, components, components))
    tables = {
        "components": components.tables,
        "bias": float(predictor.bias),
        "n": n,
        "n_selected": predictor.n_selected,
    }
    return Part(function, tables, 1, components.multiply_adds + 2 * predictor.n_selected)


def lower_gated_linear(predictor, program):
    c_rows.dot(program)
    gate = lower(predictor.gate, program)
    n_features, n = predictor.weights.shape
    program.at_least("COMPONENTS", n)
    function = program.define("gated_linear", _named(_LINEAR, gate, gate))
    tables = {
        "gate": gate.tables,
        "weights": program.matrix("weights", predictor.weights.T),
        "biases": program.vector("biases", predictor.biases),
        "bias": float(predictor.bias),
        "n": n,
    }
    return Part(function, tables, 1, gate.multiply_adds + n * (n_features + 2))


def lower_gated_rows(predictor, program):
    kernels = predictor.expansion.kernels
    if len(kernels) != 1 or kind_of(kernels[0]) != "PairwiseNormalizedSum":
        raise CSourceError(
            "An expansion of gated rows has a C source only with a pairwise normalized sum of "
            "kernels: fit another method."
        )
    expansion = lower_pairwise(predictor.expansion, program)
    gate = lower(predictor.gate, program)
    program.at_least("COMPONENTS", gate.n_outputs)
    function = program.define("gated_rows", _named(_ROWS, gate, expansion))
    tables = {"gate": gate.tables, "expansion": expansion.tables}
    work = gate.multiply_adds + expansion.multiply_adds
    return Part(function, tables, expansion.n_outputs, work)


def _named(text, gate, components):
    return text.replace("<GATE>", gate.function).replace("<COMPONENTS>", components.function)


def lower_stacked(predictor, program):
    """Parts that write their scores one after the other; those built alike share a loop."""
    parts = [lower(output, program) for output in predictor.outputs]
    fields, lines, tables, first = [], [], {}, 0
    for number, (function, run) in enumerate(groupby(parts, key=lambda part: part.function)):
        run = list(run)
        name, step = f"outputs_{number}", run[0].n_outputs
        place = (f"{first} + " if first else "") + ("o" if step == 1 else f"{step} * o")
        records = program.constant("outputs", f"{function}_tables", [p.tables for p in run])
        fields.append(f"    const {function}_tables *{name};\n    size_t n_{name};\n")
        lines.append(
            f"    for (size_t o = 0; o < m->n_{name}; o++)\n"
            f"        {function}(&m->{name}[o], x, scores + {place});\n"
        )
        tables |= {name: records, f"n_{name}": len(run)}
        first += step * len(run)
    text = _STACK.replace("<FIELDS>", "".join(fields)).replace("<LINES>", "".join(lines))
    return Part(program.define("stack", text), tables, first, sum(p.multiply_adds for p in parts))
