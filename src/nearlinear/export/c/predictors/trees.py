"""One path down a tree of linear splits."""

from .. import rows as c_rows
from ..literals import filled
from ..program import Part

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
} $_tables;
"""
_SLOPES = """
    @_matrix slopes;
    const float *slope_offsets;
    float sigma;"""
_START = """
static void $(const $_tables *m, const float *x, float *scores)
{
    size_t node = 0;
"""
_INTERCEPT = """    for (size_t o = 0; o < m->n_outputs; o++)
        scores[o] = m->intercept[o];
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


def lower_tree(tree, program):
    c_rows.dot(program)
    kind = tree.node_gate.name
    text = filled(_TABLES, fields=_SLOPES if kind == "tanh" else "")
    function = program.define("tree", text + _START + _INTERCEPT + _WALKS[kind])
    return Part(function, _tables(tree, program), tree.n_outputs, tree.cost.multiply_adds)


def _tables(tree, program):
    n_splits = 2**tree.depth - 1
    n_read = len(tree.weights) if tree.node_gate.name == "compositional" else n_splits
    tables = {
        **affine_tables(program, "splits", "split_offsets", tree.splits[:n_read]),
        **affine_tables(program, "weights", "weight_offsets", tree.weights),
        "intercept": program.vector("intercept", tree.intercept),
        "n_splits": n_splits,
        "n_outputs": tree.n_outputs,
    }
    if tree.node_gate.name == "tanh":
        tables |= affine_tables(program, "slopes", "slope_offsets", tree.slopes)
        tables["sigma"] = float(tree.node_gate.sigma)
    return tables


def affine_tables(program, name, offsets, rows):
    """Rows whose last number belongs to a constant feature: it keeps full precision."""
    return {
        name: program.matrix(name, rows[..., :-1]),
        offsets: program.vector(offsets, rows[..., -1]),
    }
