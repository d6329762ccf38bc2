"""One path down a tree of linear splits, and the mean of several trees."""

from . import rows as c_rows
from .program import Part

_TABLES = """
/* Products with x are completed by offsets. */
typedef struct {
    @_matrix splits;
    const float *split_offsets;<FIELDS>
    @_matrix weights;
    const float *weight_offsets;
    const float *intercept;
    size_t n_splits;
    size_t n_outputs;
} $;
"""
_SLOPES = """
    @_matrix slopes;
    const float *slope_offsets;
    float sigma;"""
_PROJECTION = """
    @_matrix projection;
    const float *projection_offsets;
    size_t n_projected;"""

_START = """
/* Adds the scores of a tree. */
static void $(const <TABLES> *m, const float *<ROW>, float *scores)
{
    size_t node = 0;
"""
_PROJECT = """    float x[@@_MAX_PROJECTED];
    for (size_t c = 0; c < m->n_projected; c++)
        x[c] = m->projection_offsets[c] + @_dot(&m->projection, c, whole);
"""
_INTERCEPT = """    for (size_t o = 0; o < m->n_outputs; o++)
        scores[o] += m->intercept[o];
"""
_SPLIT = "m->split_offsets[node] + @_dot(&m->splits, node, x)"
_LOCAL = "(m->weight_offsets[row] + @_dot(&m->weights, row, x))"

_TANH = f"""    for (;;) {{
        const float slope = m->slope_offsets[node] + @_dot(&m->slopes, node, x);
        const float feature = tanhf(m->sigma * slope);
        for (size_t o = 0; o < m->n_outputs; o++) {{
            const size_t row = node * m->n_outputs + o;
            scores[o] += feature * {_LOCAL};
        }}
        if (node >= m->n_splits)
            return;
        node = 2 * node + ({_SPLIT} > 0.0f ? 1 : 2);
    }}
}}
"""
_COMPOSITIONAL = f"""    float feature = 1.0f;
    for (;;) {{
        const float split = {_SPLIT};
        feature = tanhf(feature * split);
        for (size_t o = 0; o < m->n_outputs; o++) {{
            const size_t row = node * m->n_outputs + o;
            scores[o] += feature * {_LOCAL};
        }}
        if (node >= m->n_splits)
            return;
        node = 2 * node + (split > 0.0f ? 1 : 2);
    }}
}}
"""
_INDICATOR = f"""    while (node < m->n_splits)
        node = 2 * node + ({_SPLIT} > 0.0f ? 1 : 2);
    node -= m->n_splits;
    for (size_t o = 0; o < m->n_outputs; o++) {{
        const size_t row = node * m->n_outputs + o;
        scores[o] += {_LOCAL};
    }}
}}
"""
_WALKS = {"tanh": _TANH, "compositional": _COMPOSITIONAL, "indicator": _INDICATOR}

_MEAN = """
typedef struct {
    const <TABLES> *trees;
    size_t n_trees;
    size_t n_outputs;
} $_tables;

static void $(const $_tables *m, const float *x, float *scores)
{
    for (size_t o = 0; o < m->n_outputs; o++)
        scores[o] = 0.0f;
    for (size_t t = 0; t < m->n_trees; t++)
        <WALK>(&m->trees[t], x, scores);<DIVIDE>
}
"""
_DIVIDE = """
    for (size_t o = 0; o < m->n_outputs; o++)
        scores[o] /= (float)m->n_trees;"""


def lower_tree(predictor, program):
    return _lower_trees((predictor,), program)


def lower_forest(predictor, program):
    return _lower_trees(predictor.trees, program)


def _lower_trees(trees, program):
    """Trees of one shape: one function, a record for each."""
    c_rows.dot(program)
    first = trees[0]
    kind, is_projected = first.node_gate.name, first.projection is not None
    fields = (_SLOPES if kind == "tanh" else "") + (_PROJECTION if is_projected else "")
    types = program.define("tree_tables", _TABLES.replace("<FIELDS>", fields))
    text = _START.replace("<TABLES>", types).replace("<ROW>", "whole" if is_projected else "x")
    text += (_PROJECT if is_projected else "") + _INTERCEPT + _WALKS[kind]
    walk = program.define("tree", text)
    records = program.constant("trees", types, [_tables(tree, program) for tree in trees])
    mean = _MEAN.replace("<TABLES>", types).replace("<WALK>", walk)
    function = program.define("forest", mean.replace("<DIVIDE>", _DIVIDE if trees[1:] else ""))
    n_outputs = first.weights.shape[1]
    tables = {"trees": records, "n_trees": len(trees), "n_outputs": n_outputs}
    work = sum(tree.cost.multiply_adds for tree in trees)
    return Part(function, tables, n_outputs, work)


def _tables(tree, program):
    n_splits = 2**tree.depth - 1
    n_read = len(tree.weights) if tree.node_gate.name == "compositional" else n_splits
    tables = {
        **_affine(program, "splits", "split_offsets", tree.splits[:n_read]),
        **_affine(program, "weights", "weight_offsets", tree.weights),
        "intercept": program.vector("intercept", tree.intercept),
        "n_splits": n_splits,
        "n_outputs": tree.weights.shape[1],
    }
    if tree.node_gate.name == "tanh":
        tables |= _affine(program, "slopes", "slope_offsets", tree.slopes)
        tables["sigma"] = float(tree.node_gate.sigma)
    if tree.projection is not None:
        program.at_least("PROJECTED", len(tree.projection))
        tables |= _affine(program, "projection", "projection_offsets", tree.projection)
        tables["n_projected"] = len(tree.projection)
    return tables


def _affine(program, name, offsets, rows):
    """Rows whose last number belongs to a constant feature: it keeps full precision."""
    return {
        name: program.matrix(name, rows[..., :-1]),
        offsets: program.vector(offsets, rows[..., -1]),
    }
