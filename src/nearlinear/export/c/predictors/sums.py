"""Sums in C: of curves of single columns, and of other models."""

import numpy as np

from ....runtime.outcome import FLOOR, LARGEST_SCORE
from .. import rows as c_rows
from ..literals import filled, float_literal
from ..outcome import calibrated
from ..program import Part, lower
from .combined import MANY, field_of, records_of, runs

_ADDITIVE = """
typedef struct {
    @_matrix weights;
    const float *intercept;
    size_t n_outputs;<FIELDS>
} $_tables;

static void $(const $_tables *m, const float *x, float *scores)
{
    for (size_t o = 0; o < m->n_outputs; o++)
        scores[o] = m->intercept[o] + @_dot(&m->weights, o, x);<BENT>
}
"""
_FIELDS = """
    @_matrix values;
    const float *knots;
    const <COLUMN> *columns;
    const <FIRST> *firsts;
    size_t n_columns;"""
_BENT = """
    for (size_t c = 0; c < m->n_columns; c++) {
        const float value = x[m->columns[c]];
        size_t k = m->firsts[c], end = m->firsts[c + 1];
        /* the last knot that is not above the value, or the first of all */
        while (k + 1 < end) {
            const size_t middle = k + (end - k) / 2;
            if (value >= m->knots[middle])
                k = middle;
            else
                end = middle;
        }
        float along = 0.0f;
        if (value > m->knots[k] && k + 1 < m->firsts[c + 1])
            along = (value - m->knots[k]) / (m->knots[k + 1] - m->knots[k]);
        for (size_t o = 0; o < m->n_outputs; o++) {
            const float here = @_entry(&m->values, o, k);
            scores[o] += here;
            if (along > 0.0f)
                scores[o] += along * (@_entry(&m->values, o, k + 1) - here);
        }
    }"""
_ADD = """    for (size_t k = 0; k < m->n_<NAME>; k++) {
        <CALL>(&m-><NAME>[k], x, one);
        for (size_t o = 0; o < <N>; o++)
            scores[o] += <WEIGHT>one[o];
    }
"""
_ADD_CALIBRATED = """    <CALL>(&m->member_<NUMBER>, x, scores);
    for (size_t o = 0; o < <N>; o++)
        if (scores[o] > <LARGEST> || scores[o] < -<LARGEST>)
            scores[o] = scores[o] > 0.0f ? <LARGEST> : -<LARGEST>;
    <CALIBRATE>(0, scores, values);
    for (size_t c = 0; c < <N_CLASSES>; c++)
        mean[c] += <SHARE> * values[c];
"""
_LOGS = """    for (size_t c = 0; c < <N_CLASSES>; c++)
        mean[c] = logf(mean[c] > <FLOOR> ? mean[c] : <FLOOR>);
"""


def lower_additive(predictor, program):
    c_rows.dot(program)
    tables = {
        "weights": program.matrix("weights", predictor.weights.T),
        "intercept": program.vector("intercept", predictor.intercept),
        "n_outputs": predictor.n_outputs,
    }
    fields, bent = "", predictor.bent_columns
    if len(bent):
        c_rows.entry(program)
        tables["values"] = program.matrix("knot_values", predictor.values.T)
        tables["knots"] = program.vector("knots", predictor.knots)
        tables["columns"], column = program.counts("bent_columns", bent)
        ends = np.append(predictor.firsts[bent], len(predictor.knots))
        tables["firsts"], first = program.counts("first_knots", ends)
        tables["n_columns"] = len(bent)
        fields = filled(_FIELDS, column=column, first=first)
    text = filled(_ADDITIVE, fields=fields, bent=_BENT if len(bent) else "")
    function = program.define("additive", text)
    return Part(function, tables, predictor.n_outputs, predictor.cost.multiply_adds)


def lower_averaged(predictor, program):
    parts = [lower(member, program) for member in predictor.members]
    lowered = _probabilities if predictor.calibrations else _scores
    text, tables = lowered(predictor, parts, program)
    function = program.define("average", text)
    return Part(function, tables, predictor.n_outputs, sum(part.multiply_adds for part in parts))


def _scores(predictor, parts, program):
    """Members built alike share a loop."""
    n, is_even = str(predictor.n_outputs), len(set(predictor.weights)) == 1
    fields, lines, tables, first = [], [], {}, 0
    weights = "" if is_even else program.vector("member_weights", predictor.weights)
    for name, run in runs(parts):
        fields.append(field_of(run[0].function, name))
        weight = "" if is_even else f"{weights}[{first} + k] * "
        lines.append(filled(_ADD, name=name, call=run[0].function, n=n, weight=weight))
        tables |= records_of(name, run, program)
        first += len(run)
    total = float_literal(len(parts) if is_even else sum(predictor.weights))
    each = f"    for (size_t o = 0; o < {n}; o++)\n        scores[o]"
    begin, end = f"    float one[{n}];\n{each} = 0.0f;\n", f"{each} /= {total};\n"
    return filled(MANY, fields="".join(fields), lines=begin + "".join(lines) + end), tables


def _probabilities(predictor, parts, program):
    n_outputs = predictor.n_outputs
    n_classes = max(2, n_outputs)
    fields, lines, tables = [], [], {}
    for number, (part, one, share) in enumerate(
        zip(parts, predictor.calibrations, predictor.shares, strict=True)
    ):
        fields.append(f"    {part.function}_tables member_{number};\n")
        calibrate = calibrated(program, (one,), n_outputs, n_classes)
        line = filled(_ADD_CALIBRATED, call=part.function, number=number, calibrate=calibrate)
        lines.append(filled(line, share=float_literal(share)))
        tables[f"member_{number}"] = part.tables
    begin = f"    float mean[{n_classes}];\n    float values[{n_classes}];\n"
    begin += f"    for (size_t c = 0; c < {n_classes}; c++)\n        mean[c] = 0.0f;\n"
    end = "    scores[0] = mean[1] - mean[0];\n"
    if n_outputs > 1:
        end = f"    for (size_t c = 0; c < {n_classes}; c++)\n        scores[c] = mean[c];\n"
    text = filled(MANY, fields="".join(fields), lines=begin + "".join(lines) + _LOGS + end)
    text = filled(text, n=n_outputs, n_classes=n_classes, floor=float_literal(FLOOR))
    return filled(text, largest=float_literal(LARGEST_SCORE)), tables
