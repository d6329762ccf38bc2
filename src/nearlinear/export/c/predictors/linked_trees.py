"""One path down a tree whose nodes name their children."""

from .. import rows as c_rows
from ..literals import CSourceError, filled
from ..program import Part
from .trees import affine_tables

_TABLES = """
/* Products with x are completed by offsets; splits and slopes see x from `first` on. */
typedef struct {
    @_matrix splits;
    const float *split_offsets;<FIELDS>
    @_matrix weights;
    const float *weight_offsets;
    const float *intercept;
    const uint16_t *children;
    size_t first;
    size_t n_inner;
    size_t n_outputs;
} $_tables;
"""
_SLOPES = """
    @_matrix slopes;
    const float *slope_offsets;"""
_FIELDS = {"tanh": _SLOPES + "\n    float sigma;"}
_WALK = """
static void $(const $_tables *m, const float *x, float *scores)
{
    const float *seen = x + m->first;
    size_t node = 0, next = 0;<BEFORE>
    for (size_t o = 0; o < m->n_outputs; o++)
        scores[o] = m->intercept[o];
    while (next != 65535) {
        node = next;
        next = 65535;<FEATURE>
        if (node < m->n_inner)
            next = m->children[2 * node + (<TURN> > 0.0f ? 0 : 1)];<SCORES>
    }<END>
}
"""
_SPLIT = "m->split_offsets[node] + @_dot(&m->splits, node, seen)"
_TANH = """
        const float slope = m->slope_offsets[node] + @_dot(&m->slopes, node, seen);
        const float feature = tanhf(m->sigma * slope);"""
_COMPOSED = f"""
        const float split = {_SPLIT};
        feature = tanhf(feature * split);"""
_LOCAL = "(m->weight_offsets[row] + @_dot(&m->weights, row, x))"
_ALONG = f"""
        for (size_t o = 0; o < m->n_outputs; o++) {{
            const size_t row = node * m->n_outputs + o;
            scores[o] += feature * {_LOCAL};
        }}"""
_AT_END = f"""
    for (size_t o = 0; o < m->n_outputs; o++) {{
        const size_t row = node * m->n_outputs + o;
        scores[o] += {_LOCAL};
    }}"""
# What stands before the loop, the feature of a node, its turn, its scores, what follows the loop.
_WALKS = {
    "tanh": ("", _TANH, _SPLIT, _ALONG, ""),
    "compositional": ("\n    float feature = 1.0f;", _COMPOSED, "split", _ALONG, ""),
    "indicator": ("", "", _SPLIT, "", _AT_END),
}
_NONE = 65535


def lower_linked(tree, program):
    c_rows.dot(program)
    kind = tree.node_gate.name
    before, feature, turn, scores, end = _WALKS[kind]
    text = filled(_TABLES, fields=_FIELDS.get(kind, "")) + filled(
        _WALK, before=before, feature=feature, turn=turn, scores=scores, end=end
    )
    function = program.define("linked_tree", text)
    return Part(function, _tables(tree, program), tree.n_outputs, tree.cost.multiply_adds)


def _tables(tree, program):
    if len(tree.weights) >= _NONE:
        raise CSourceError(f"A pruned tree in C has fewer than {_NONE} nodes: fit a smaller one.")
    children = tree.children.astype(int)
    children[children < 0] = _NONE
    tables = {
        **affine_tables(program, "splits", "split_offsets", tree.splits),
        **affine_tables(program, "weights", "weight_offsets", tree.weights),
        "intercept": program.vector("intercept", tree.intercept),
        "children": program.indices("children", children),
        "first": tree.weights.shape[2] - tree.splits.shape[1],
        "n_inner": len(tree.children),
        "n_outputs": tree.n_outputs,
    }
    if len(tree.slopes):
        tables |= affine_tables(program, "slopes", "slope_offsets", tree.slopes)
    if tree.node_gate.name == "tanh":
        tables["sigma"] = float(tree.node_gate.sigma)
    return tables
