"""One row down the trees of a forest: tables of splits, and no nested ifs.

Splits of a tree stand level by level, and so do its leaves. In such an order the i-th split has the
nodes 2i + 1 and 2i + 2 as children; with the number of splits before the first of them, ``next``,
that tells where either child is, be it a split or a leaf. A split takes a word with the column and
four flags, ``next``, and the threshold. In eight bits it has the number of its threshold among
those of its column, where that is shorter: nothing is lost. Leaves have whole numbers of one byte.
"""

from dataclasses import dataclass

import numpy as np

from .. import rows as c_rows
from ..literals import filled
from ..program import Part
from ..quantized import value_scales

_FIRST_IS_SPLIT, _SECOND_IS_SPLIT, _MISSING_FIRST, _IS_SET, _FLAGS = 1, 2, 4, 8, 4

_TABLES = """
/* Splits of all trees, level by level. The flags of a word: first child is a split 1, second child
 * is a split 2, missing values go to the first 4, a set of categories 8; then the column. */
typedef struct {
    const <WORD> *words;
    const <NEXT> *next;
    const <START> *starts;<CUT_FIELDS>
    const <VALUE> *values;
    const float *intercept;
    size_t n_trees;
    size_t n_outputs;
    size_t n_told;<FIELDS>
} $_tables;
"""
_KNOWN = """
static float $_known(const $_tables *m, const float *x, size_t d)
{
    return x[d] == x[d] ? x[d] : <FILL>;
}
"""
_WALK = """
static void $(const $_tables *m, const float *x, float *scores)
{<PAIRS>
    for (size_t o = 0; o < m->n_outputs; o++)
        scores[o] = m->intercept[o];<ROOT>
    for (size_t t = 0; t < m->n_trees; t++) {
        const size_t first = m->starts[t];
        size_t i = 0, leaf = 0, is_split = m->starts[t + 1] > first;
        while (is_split) {
            const size_t word = m->words[first + i], column = word >> 4;
            const float value = <COLUMN>;
            size_t second = !(word & 4);
            <SET>if (value == value)
                second = !(value <= <CUT>);
            const size_t next = m->next[first + i] + (second & word & 1);
            is_split = word >> second & 1;
            leaf = 2 * i + 1 + second - next;
            i = next;
        }
        leaf += first + t;
        for (size_t k = 0; k < m->n_told; k++) {
            const size_t row = leaf * m->n_told + k;
            scores[<OUTPUT>] += <TOLD>;<SLOPES>
        }
    }
}
"""
_CUT_FIELDS = {False: "\n    const float *thresholds;", True: """
    const <CODE> *codes;
    const <FIRST_CUT> *firsts;
    const float *cuts;"""}  # fmt: skip
_CUT = {False: "m->thresholds[first + i]", True: "m->cuts[m->firsts[column] + m->codes[first + i]]"}
_TOLD = {
    False: "m->values[row]",
    True: "m->scales[t * m->n_told + k] * (float)m->values[row]",
}
_NUMBER = {False: "(size_t)m->thresholds[first + i]", True: "m->codes[first + i]"}
_PAIR_FIELDS = """
    const <PAIR> *pairs;
    const float *factors;
    size_t n_pairs;
    size_t n_features;"""
_PAIRS = """
    float pair[@@_MAX_PAIRS];
    for (size_t p = 0; p < m->n_pairs; p++) {
        /* volatile: joined with the sum, a product would not be rounded */
        const volatile float one = m->factors[2 * p] * x[m->pairs[2 * p]];
        const volatile float two = m->factors[2 * p + 1] * x[m->pairs[2 * p + 1]];
        pair[p] = one + two;
    }"""
_SET_FIELDS = """
    const uint32_t *categories;
    size_t n_words;"""
_SET = """if (word & 8) {
                if (value > -1.0f && value < 32.0f * (float)m->n_words) {
                    const size_t category = (size_t)(value > 0.0f ? value : 0.0f);
                    const size_t bits = <NUMBER> * m->n_words + category / 32;
                    second = !(m->categories[bits] >> category % 32 & 1);
                }
            } else """
_ROOT = """
    for (size_t o = 0; o < m->n_outputs; o++)
        for (size_t d = 0; d < m->root.width; d++)
            scores[o] += @_entry(&m->root, o, d) * $_known(m, x, d);"""
_SLOPE_FIELDS = """
    @_matrix slopes;
    const <SLOPE_COLUMN> *slope_columns;"""
_SLOPES = """
            for (size_t s = 0; s < m->slopes.width; s++)
                scores[<OUTPUT>] += @_entry(&m->slopes, row, s)
                    * $_known(m, x, m->slope_columns[s]);"""


@dataclass(frozen=True)
class Splits:
    """Splits of all trees, level by level; ``leaves`` has the old number of each new leaf."""

    nodes: np.ndarray  # of the gate
    starts: np.ndarray
    next: np.ndarray
    flags: np.ndarray
    leaves: np.ndarray

    @classmethod
    def of(cls, gate):
        parts = [_level_by_level(gate, root) for root in gate.starts[:-1]]
        nodes, before, flags, leaves = (np.concatenate(part) for part in zip(*parts))
        starts = np.concatenate([[0], np.cumsum([len(part[0]) for part in parts])])
        flags = flags | np.where(gate.missing_left[nodes] == 1, _MISSING_FIRST, 0)
        if len(gate.sets):
            flags = flags | np.where(gate.sets[nodes] >= 0, _IS_SET, 0)
        return cls(nodes, starts, before, flags, leaves)


def _level_by_level(gate, root):
    level, order = np.array([root], dtype=np.int64), []
    while len(level):
        order.append(level)
        first = gate.children[level[gate.columns[level] >= 0]].astype(np.int64)
        level = np.column_stack([first, first + 1]).ravel()
    order = np.concatenate(order)
    is_split = gate.columns[order] >= 0
    splits = np.concatenate([[0], np.cumsum(is_split)])
    child = 2 * np.arange(splits[-1]) + 1
    flags = np.where(is_split[child], _FIRST_IS_SPLIT, 0)
    flags |= np.where(is_split[child + 1], _SECOND_IS_SPLIT, 0)
    return order[is_split], splits[child], flags, gate.children[order[~is_split]]


def lower_forest(forest, program):
    """The C of a ``Forest``, in float32 whatever it was."""
    forest = forest.in_precision(np.float32)
    gate, is_int8 = forest.gate, program.is_int8
    splits = Splits.of(gate)
    columns = gate.columns[splits.nodes].astype(np.int64)
    types, tables = {}, {}

    def count(field, ctype, name, values):
        tables[field], types[ctype] = program.counts(name, values)

    count("words", "word", "split_words", columns << _FLAGS | splits.flags)
    count("next", "next", "next_splits", splits.next)
    count("starts", "start", "tree_starts", splits.starts)
    cuts, numbers = _thresholds(gate, splits.nodes)
    values = forest.values[splits.leaves].astype(np.float64)
    numbered = _numbered(columns, cuts, numbers, gate.n_features + len(gate.pairs))
    is_numbered = is_int8 and sum(map(_n_bytes, numbered)) < 4 * len(cuts)
    if is_numbered:
        firsts, codes, cuts = numbered
        count("codes", "code", "threshold_numbers", codes)
        count("firsts", "first_cut", "first_thresholds", firsts)
        tables["cuts"] = program.vector("thresholds", cuts)
    else:
        tables["thresholds"] = program.vector("thresholds", np.where(numbers < 0, cuts, numbers))
    if is_int8:
        scales = value_scales(forest)
        own = np.repeat(scales, np.diff(gate.leaf_starts), axis=0)
        whole = np.rint(np.divide(values, own, out=np.zeros_like(values), where=own > 0))
        tables["values"] = program.bytes("leaf_values", whole)
        tables["scales"] = program.vector("leaf_scales", scales)
    else:
        tables["values"] = program.vector("leaf_values", values)
    tables["intercept"] = program.vector("intercept", forest.intercept)
    tables |= {"n_trees": gate.n_trees, "n_outputs": forest.n_outputs, "n_told": values.shape[1]}
    fields, pieces, known = _more(forest, splits, program, tables, count)
    fields += "\n    const float *scales;" if is_int8 else ""
    is_single = values.shape[1] == 1
    output = "k" if not is_single else "0"
    if is_single and forest.n_outputs > 1:
        fields += "\n    const <OUT> *outputs;"
        count("outputs", "out", "tree_outputs", forest.outputs)
        output = "m->outputs[t]"
    text = _TABLES + known + filled(_WALK, **pieces)
    text = filled(text, cut_fields=_CUT_FIELDS[is_numbered], fields=fields, cut=_CUT[is_numbered])
    text = filled(text, told=_TOLD[is_int8], number=_NUMBER[is_numbered], output=output)
    text = filled(text, value="int8_t" if is_int8 else "float", **types)
    function = program.define("forest", text)
    return Part(function, tables, forest.n_outputs, forest.cost.multiply_adds)


def _more(forest, splits, program, tables, count):
    """Fields and pieces of code for what not every forest has."""
    gate, fields, known = forest.gate, "", ""
    pieces = {"pairs": "", "set": "", "root": "", "slopes": "", "column": "x[column]"}
    if len(gate.pairs):
        fields += _PAIR_FIELDS
        pieces |= {"pairs": _PAIRS}
        pieces["column"] = "column < m->n_features ? x[column] : pair[column - m->n_features]"
        program.at_least("PAIRS", len(gate.pairs))
        count("pairs", "pair", "pairs", gate.pairs)
        tables["factors"] = program.vector("factors", gate.factors)
        tables |= {"n_pairs": len(gate.pairs), "n_features": gate.n_features}
    if len(gate.sets):
        fields, pieces["set"] = fields + _SET_FIELDS, _SET
        tables["categories"] = program.words("categories", gate.categories)
        tables["n_words"] = gate.categories.shape[1]
    if forest.root.size or forest.slopes.size:
        c_rows.entry(program)
        known = filled(_KNOWN, fill="m->fill[d]" if len(forest.fill) else "0.0f")
        if len(forest.fill):
            fields += "\n    const float *fill;"
            tables["fill"] = program.vector("fill", forest.fill)
        else:
            known = known.replace("{\n", "{\n    (void)m;\n", 1)
    if forest.root.size:
        fields, pieces["root"] = fields + "\n    @_matrix root;", _ROOT
        tables["root"] = program.matrix("root", forest.root)
    if forest.slopes.size:
        fields, pieces["slopes"] = fields + _SLOPE_FIELDS, _SLOPES
        tables["slopes"] = program.matrix("slopes", forest.slopes[splits.leaves])
        count("slope_columns", "slope_column", "slope_columns", forest.slope_columns)
    return fields, pieces, known


def _thresholds(gate, nodes):
    """Thresholds of splits that C can hold, and numbers of their sets, −1 of others."""
    largest, least = np.finfo(np.float32).max, np.finfo(np.float32).tiny
    cuts = np.clip(gate.thresholds[nodes].astype(np.float64), -largest, largest)
    # x < 0 is x ≤ −1e-45 here; a literal of 0 in its place would let zeros pass
    cuts[(cuts < 0) & (cuts > -least)] = -least
    return cuts, gate.sets[nodes] if len(gate.sets) else np.full(len(nodes), -1)


def _numbered(columns, cuts, numbers, n_columns):
    """Thresholds without repetition, column by column: first ones, numbers of splits, and all."""
    plain = np.flatnonzero(numbers < 0)
    pairs = np.column_stack([columns[plain], cuts[plain]])
    found, places = np.unique(pairs, axis=0, return_inverse=True)
    firsts = np.searchsorted(found[:, 0], np.arange(n_columns))
    codes = numbers.astype(np.int64)
    codes[plain] = places.ravel() - firsts[columns[plain]]
    return firsts, codes, found[:, 1]


def _n_bytes(values):
    """In C: floats, or whole numbers of the shortest type."""
    if values.dtype.kind == "f":
        return 4 * len(values)
    return len(values) * np.min_scalar_type(int(values.max(initial=0))).itemsize


def rows_near_splits(gate, n_rows, rng):
    """Rows of values around thresholds, so that they take many paths."""
    rows = rng.standard_normal((n_rows, gate.n_features))
    is_finite = np.isfinite(gate.thresholds)
    for column in np.unique(gate.columns[(gate.columns >= 0) & is_finite]):
        if column < gate.n_features:
            known = gate.thresholds[(gate.columns == column) & is_finite].astype(np.float64)
            rows[:, column] = rng.choice(known, n_rows) + 0.3 * known.std() * rows[:, column]
    return rows
