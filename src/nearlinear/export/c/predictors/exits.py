"""Models that a row may leave early, in C: what comes after is not computed."""

from dataclasses import replace

import numpy as np

from ..literals import filled
from ..program import Part, lower
from .forests import lower_forest, value_scales

_NEVER = 3.0e38  # in place of an infinite threshold
_LEAD = """
/* How sure scores are: |score| of one, else the best less the second. */
static float $(const float *scores, size_t n)
{
    if (n == 1)
        return scores[0] < 0.0f ? -scores[0] : scores[0];
    float best = scores[0], second = scores[1];
    for (size_t o = 1; o < n; o++) {
        if (scores[o] > best) {
            second = best;
            best = scores[o];
        } else if (o == 1 || scores[o] > second)
            second = scores[o];
    }
    return best - second;
}
"""
_EXIT = """
        if (t + 1 < m->n_trees && @_lead(scores, m->n_outputs) >= m->exits[t])
            return;"""
_CASCADE = """
typedef struct {
<FIELDS>    const float *thresholds;
} $_tables;

/* The scores of the first stage that is sure enough. */
static void $(const $_tables *m, const float *x, float *scores)
{
<LINES>}
"""


def lower_exiting(predictor, program):
    program.define("lead", _LEAD)
    limits = np.minimum(predictor.thresholds, _NEVER) if predictor.thresholds else [_NEVER]
    exits = program.vector("exits", limits)
    part = lower_forest(predictor.forest, program, more=(_EXIT, exits))
    return replace(part, multiply_adds=predictor.cost.multiply_adds)


def lower_cascaded(predictor, program):
    """Stages that no row stops at are left out."""
    steps = predictor.steps
    if len(steps) == 1:
        return lower(steps[0][0], program)
    parts = [lower(stage, program) for stage, _ in steps]
    program.define("lead", _LEAD)
    fields, lines, tables = [], [], {}
    for number, part in enumerate(parts):
        fields.append(f"    {part.function}_tables stage_{number};\n")
        lines.append(f"    {part.function}(&m->stage_{number}, x, scores);\n")
        if number < len(parts) - 1:
            test = f"@_lead(scores, {part.n_outputs}) >= m->thresholds[{number}]"
            lines.append(f"    if ({test})\n        return;\n")
        tables[f"stage_{number}"] = part.tables
    tables["thresholds"] = program.vector("thresholds", [limit for _, limit in steps[:-1]])
    text = filled(_CASCADE, fields="".join(fields), lines="".join(lines))
    work = predictor.cost.multiply_adds
    return Part(program.define("cascade", text), tables, parts[0].n_outputs, work)


def round_exiting(model):
    """Values of eight bits, as they are: sums of the first trees must not hold those of others."""
    forest = model.forest
    values = forest.values.astype(np.float64)
    counts = np.diff(forest.gate.leaf_starts)
    scales = np.repeat(value_scales(forest), counts, axis=0)
    whole = np.rint(np.divide(values, scales, out=np.zeros_like(values), where=scales > 0))
    return replace(model, forest=replace(forest, values=(whole * scales).astype(forest.dtype)))
