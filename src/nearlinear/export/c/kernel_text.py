"""C text that evaluates kernels at a row and a support row, with no more than the kernels need."""

import re
from dataclasses import dataclass
from itertools import count

from . import rows as c_rows
from .literals import filled

_TEXT = """
/* Groups of kernels, sums of terms factor * k(x, z). */
typedef struct {
    @_matrix support;<FIELDS>
    const float *gammas;
    const float *factors;
    const uint16_t *groups;
    size_t n_groups;
} $_tables;

/* A row as the kernels see it. */
typedef struct {
    const float *x;<ROW_FIELDS>
} $_row;

static void $_begin(<BEGIN_TABLES>const float *x, $_row *row)
{
    row->x = x;<BEGIN>
}

/* Values of the groups at a row and support row j. */
static void $(const $_tables *m, size_t j, const $_row *row,
              float *values)
{<MEET>
    for (size_t g = 0; g < m->n_groups; g++) {
        float sum = 0.0f;
        for (size_t t = m->groups[g]; t < m->groups[g + 1]; t++) {<EVALUATE>
        }
        values[g] = sum<ROOT>;
    }
}
"""

_PICK_FIELDS = """
    const uint16_t *picked;"""
_PICK_ROW = """
    float picked[@@_MAX_PICKED];"""
_PICK = """
    for (size_t d = 0; d < m->support.width; d++)
        row->picked[d] = x[m->picked[d]];
    row->x = row->picked;"""

_SET_FIELDS = """
    const uint16_t *set_starts;
    const uint16_t *columns;
    const uint16_t *term_sets;
    size_t n_sets;"""
_POWER_FIELDS = """
    const uint16_t *degrees;
    const float *constants;"""
_MEET_SETS = """<ARRAYS>
    for (size_t s = 0; s < m->n_sets; s++) {<ZEROS>
        for (size_t i = m->set_starts[s]; i < m->set_starts[s + 1]; i++) {
            const size_t d = m->columns[i];
            const float z = @_entry(&m->support, j, d);<SUMS>
        }
    }"""
_SUMS = {
    "product": "\n            products[s] += row->x[d] * z;",
    "square": "\n            squares[s] += (row->x[d] - z) * (row->x[d] - z);",
}

# 1 / sqrt(k(x, x)), once for a row; the same of support rows is in the coefficients.
_ROOT_FIELDS = """
    const uint16_t *is_unit;"""
_ROOT_ROW = """
    float roots[@@_MAX_GROUPS];"""
_ROOTS = """
    for (size_t g = 0; g < m->n_groups; g++) {
        float sum = 0.0f;
        for (size_t t = m->groups[g]; t < m->groups[g + 1]; t++) {
            float value = m->factors[t];
            float product = 0.0f;<OWN>
            for (size_t i = 0; i < m->degrees[t]; i++)
                value *= m->gammas[t] * product + m->constants[t];
            sum += value;
        }
        row->roots[g] = !m->is_unit[g] ? 1.0f : sum > 0.0f ? 1.0f / sqrtf(sum) : 0.0f;
    }"""
_OWN_WHOLE = """
            for (size_t d = 0; d < m->support.width; d++)
                product += row->x[d] * row->x[d];"""
_OWN_SETS = """
            const size_t s = m->term_sets[t];
            for (size_t i = m->set_starts[s]; i < m->set_starts[s + 1]; i++)
                product += row->x[m->columns[i]] * row->x[m->columns[i]];"""

_GAUSSIAN = "expf(-m->gammas[t] * <SQUARE>)"
# A wide Gaussian is close to 1 everywhere: less 1 it keeps its digits. Its gamma is negated.
_WIDE = f"""(m->gammas[t] < 0.0f
                                    ? @_less_one(m->gammas[t] * <SQUARE>)
                                    : {_GAUSSIAN})"""
_LESS_ONE = """
/* exp(u) - 1. */
static float $(float u)
{
    const float half = tanhf(0.5f * u);
    return 2.0f * half / (1.0f - half);
}
"""
_ADD = """
            sum += m->factors[t] * <VALUE>;"""
_ADD_OR = """
            if (m->degrees[t] == 0) {
                sum += m->factors[t] * <VALUE>;
                continue;
            }"""
_POWER = """
            const float base = m->gammas[t] * <PRODUCT> + m->constants[t];
            float value = m->factors[t];
            for (size_t i = 0; i < m->degrees[t]; i++)
                value *= base;
            sum += value;"""


# Formulas have the numbers from here on, in place of a degree.
FORMULA = 60_000
_FORMULA = """
            if (m->degrees[t] == <NUMBER>) {
                sum += m->factors[t] * (<TEXT>);
                continue;
            }"""


@dataclass(frozen=True)
class Needs:
    """What the kernels of an expansion need."""

    gaussians: bool  # squared distances
    wide: bool  # Gaussians less one
    powers: bool  # products
    roots: bool  # unit diagonals
    picked: bool  # rows hold more columns than are read
    sets: bool  # kernels read different columns
    texts: tuple = ()  # formulas of registered kernels

    @property
    def squares(self):
        return self.gaussians or any("square" in text for text in self.texts)

    @property
    def products(self):
        return self.powers or any("product" in text for text in self.texts)

    @property
    def degrees(self):
        return self.powers or bool(self.texts)

    @property
    def begins(self):
        """Whether a row is prepared before it meets the support rows."""
        return self.picked or self.roots


def kernel_text(needs, program):
    """The text; ``program`` gets the functions that it calls."""
    fields = (_PICK_FIELDS if needs.picked else "") + (_SET_FIELDS if needs.sets else "")
    fields += (_POWER_FIELDS if needs.degrees else "") + (_ROOT_FIELDS if needs.roots else "")
    roots = filled(_ROOTS, own=_OWN_SETS if needs.sets else _OWN_WHOLE)
    return filled(
        _TEXT,
        fields=fields,
        row_fields=(_PICK_ROW if needs.picked else "") + (_ROOT_ROW if needs.roots else ""),
        begin_tables="const $_tables *m, " if needs.begins else "",
        begin=(_PICK if needs.picked else "") + (roots if needs.roots else ""),
        meet=_meet(needs, program),
        evaluate=_evaluate(needs, program),
        root=" * row->roots[g]" if needs.roots else "",
    )


def _meet(needs, program):
    """Products and squared distances, whichever the terms need."""
    names = ["product"] * needs.products + ["square"] * needs.squares
    if not needs.sets:
        ways = {"product": c_rows.dot, "square": c_rows.square}
        calls = [(name, ways[name](program)) for name in names]
        lines = [f"const float {name} = {call}(&m->support, j, row->x);" for name, call in calls]
        return "".join(f"\n    {line}" for line in lines)
    c_rows.entry(program)
    arrays = "".join(f"\n    float {name}s[@@_MAX_SETS];" for name in names)
    zeros = "".join(f"\n        {name}s[s] = 0.0f;" for name in names)
    sums = "".join(_SUMS[name] for name in names)
    return filled(_MEET_SETS, arrays=arrays, zeros=zeros, sums=sums)


def _formula(text, number):
    for word, meaning in _WORDS.items():
        text = re.sub(rf"\b{word}\b", meaning, text)
    return filled(_FORMULA, number=number, text=text)


_WORDS = {"square": "<SQUARE>", "product": "<PRODUCT>", "number": "m->gammas[t]"}


def _evaluate(needs, program):
    if needs.wide:
        program.define("less_one", _LESS_ONE)
    text = _POWER if needs.powers else ""
    if needs.gaussians:
        text = _ADD_OR + text if needs.degrees else _ADD
    text = "".join(map(_formula, needs.texts, count(FORMULA))) + text
    text = filled(text, value=_WIDE if needs.wide else _GAUSSIAN)
    if not needs.sets:
        return filled(text, product="product", square="square")
    text = filled(text, product="products[s]", square="squares[s]")
    return "\n            const size_t s = m->term_sets[t];" + text
