"""Sums of kernels over support rows: one machine, or many that share the rows."""

import numpy as np

from ..kernels import lower_kernels
from ..literals import CSourceError, filled
from ..program import Part

_ALIKE = 1e-6  # relative difference up to which coefficients are a product of two tables

_TEXT = """
typedef struct {
    <VALUES>_tables kernels;
    const float *coefficients;<FIELDS>
    const float *biases;
    size_t n_support;
    size_t n_outputs;
} $_tables;

static void $(const $_tables *m, const float *x, <GATES>float *scores)
{
    <VALUES>_row row;
    float values[@@_MAX_GROUPS];
    <BEGIN>;
    for (size_t o = 0; o < m->n_outputs; o++)
        scores[o] = m->biases[o];
    for (size_t j = 0; j < m->n_support; j++) {
        <VALUES>(&m->kernels, j, &row, values);<ADD>
    }
}
"""
_SINGLE = """
        for (size_t o = 0; o < m->n_outputs; o++)
            scores[o] += m->coefficients[j * m->n_outputs + o] * values[0];"""
# Every output has one coefficient for a support row, and weights of the kernels.
_MIXED_FIELDS = """
    const float *mix;"""
_MIXED = """
        for (size_t o = 0; o < m->n_outputs; o++) {
            float sum = 0.0f;
            for (size_t g = 0; g < m->kernels.n_groups; g++)
                sum += m->mix[o * m->kernels.n_groups + g] * values[g];
            scores[o] += m->coefficients[j * m->n_outputs + o] * sum;
        }"""
# Every group of kernels has coefficients of its own, for some of the outputs.
_TARGETED_FIELDS = """
    const uint16_t *starts;
    const uint16_t *targets;
    size_t n_targets;"""
_TARGETED = """
        const float *coefficients = m->coefficients + j * m->n_targets;
        for (size_t g = 0; g < m->kernels.n_groups; g++)
            for (size_t t = m->starts[g]; t < m->starts[g + 1]; t++)
                scores[m->targets[t]] += coefficients[t] * values[g];"""
# The mean of the kernels' values, weighed by the gates of both rows.
_PAIRWISE_FIELDS = """
    const float *support_gates;
    const float *support_shares;"""
_PAIRWISE = """
        float sum = 0.0f;
        float total = 0.0f;
        for (size_t g = 0; g < m->kernels.n_groups; g++) {
            const size_t place = j * m->kernels.n_groups + g;
            sum += gates[g] * m->support_shares[place] * values[g];
            total += gates[g] * m->support_gates[place];
        }
        for (size_t o = 0; o < m->n_outputs; o++)
            scores[o] += m->coefficients[j * m->n_outputs + o] * sum / total;"""


def lower_expansion(predictor, program):
    """The C of a ``KernelExpansion``."""
    found = lower_kernels(predictor.kernels, predictor.support, program, True)
    n_outputs = len(predictor.biases)
    per_group = _per_group(predictor, found)
    factored = _factored(per_group, n_outputs)
    if factored is None:
        fields, add, tables = _TARGETED_FIELDS, _TARGETED, _targeted(per_group, program)
    else:
        mix, coefficients = factored
        is_single = len(per_group) == 1 and bool(np.all(mix == 1.0))
        fields, add = ("", _SINGLE) if is_single else (_MIXED_FIELDS, _MIXED)
        tables = {} if is_single else {"mix": program.vector("mix", mix)}
        tables["coefficients"] = program.vector("coefficients", coefficients)
    biases = predictor.biases.copy()
    for (served, coefficients), constant in zip(per_group, found.constants):
        biases[served] += constant * coefficients.sum(axis=0)
    return _part(predictor, found, (fields, add, ""), tables, biases, program)


def lower_pairwise(predictor, program):
    """An expansion of a pairwise normalized sum; its function takes the row's gates, too."""
    (kernel,) = predictor.kernels
    d = kernel.n_features
    found = lower_kernels(kernel.kernels, predictor.support[:, :d], program, False)
    if found.owners != list(range(len(kernel.kernels))):
        raise CSourceError(
            "A pairwise normalized sum of sums with unit diagonals has no C source: fit with "
            "normalization='variance'."
        )
    gates = predictor.support[:, d:]
    tables = {
        "coefficients": program.vector("coefficients", predictor.coefficients[0]),
        "support_gates": program.vector("support_gates", gates),
        "support_shares": program.vector("support_shares", gates * np.stack(found.row_factors).T),
    }
    way = (_PAIRWISE_FIELDS, _PAIRWISE, "const float *gates, ")
    part = _part(predictor, found, way, tables, predictor.biases, program)
    work = part.multiply_adds + 2 * gates.size
    return Part(part.function, part.tables, part.n_outputs, work)


def _part(predictor, found, way, tables, biases, program):
    fields, add, gates = way
    text = filled(_TEXT, fields=fields, add=add, gates=gates)
    text = filled(text, begin=found.begin, values=found.function)
    function = program.define("expansion", text)
    n_outputs = len(biases)
    tables = {
        "kernels": found.tables,
        **tables,
        "biases": program.vector("biases", biases),
        "n_support": predictor.support.shape[0],
        "n_outputs": n_outputs,
    }
    return Part(function, tables, n_outputs, predictor.cost.multiply_adds)


def _per_group(predictor, found):
    """For each group the outputs that it serves and their coefficients, (n_support, n_served)."""
    terms = predictor.terms
    return [
        (terms[kernel][1], terms[kernel][2] * row_factors[:, None])
        for kernel, row_factors in zip(found.owners, found.row_factors)
    ]


def _factored(per_group, n_outputs):
    """Weights of groups (n_outputs, n_groups) and coefficients (n_support, n_outputs), or None.

    A machine on a sum of kernels has coefficients β_m a_j: two short tables in place of their
    product.
    """
    if not per_group or any(len(served) != n_outputs for served, _ in per_group):
        return None
    cube = np.stack([coefficients for _, coefficients in per_group])
    mix, rows = np.ones((n_outputs, len(cube))), np.zeros(cube.shape[1:])
    for o in range(n_outputs):
        sheet = cube[:, :, o]
        if not np.any(sheet):
            continue
        m, j = np.unravel_index(np.argmax(np.abs(sheet)), sheet.shape)
        mix[o], rows[:, o] = sheet[:, j] / sheet[m, j], sheet[m]
        if np.abs(np.outer(mix[o], rows[:, o]) - sheet).max() > _ALIKE * abs(sheet[m, j]):
            return None
    return mix, rows


def _targeted(per_group, program):
    served = [numbers for numbers, _ in per_group] or [np.zeros(0, dtype=int)]
    starts = np.concatenate([[0], np.cumsum([len(numbers) for numbers in served])])
    coefficients = [table for _, table in per_group]
    coefficients = np.hstack(coefficients) if coefficients else np.zeros((0, 0))
    return {
        "coefficients": program.vector("coefficients", coefficients),
        "starts": program.indices("target_starts", starts),
        "targets": program.indices("targets", np.concatenate(served)),
        "n_targets": int(starts[-1]),
    }
