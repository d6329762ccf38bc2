"""Kernel machines blended by a gate."""

from ....predictors.gated_expansion import reads_scores
from ..literals import filled
from ..program import Part, lower

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
    <COMPONENTS>(&m->components, x, values);
    <GATE>(&m->gate, <READ>, gates);
    score[0] = m->bias;
    for (size_t q = 0; q < m->n; q++)
        score[0] += gates[q] * <VALUE>;
}
"""
_VALUES = {"identity": "values[q]", "tanh": "tanhf(values[q])"}


def lower_gated_expansion(predictor, program):
    components = lower(predictor.components, program)
    n = components.n_outputs
    program.at_least("COMPONENTS", n)
    gate = lower(predictor.gate, program)
    read, value = "values" if reads_scores(predictor.gate) else "x", _VALUES[predictor.activation]
    functions = {"gate": gate.function, "components": components.function}
    function = program.define("blend", filled(_BLEND, read=read, value=value, **functions))
    tables = {
        "gate": gate.tables,
        "components": components.tables,
        "bias": float(predictor.bias),
        "n": n,
    }
    if reads_scores(predictor.gate):
        tables["gate"] = {**gate.tables, "n": n}
    return Part(function, tables, 1, components.multiply_adds + gate.multiply_adds + n)
