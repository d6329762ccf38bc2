"""Layers of units that bend, in C."""

from .. import rows as c_rows
from ..program import Part

_HINGES = """
typedef struct {
    @_matrix weights;
    const float *biases;
    size_t n;
} $_layer;

typedef struct {
    const $_layer *layers;
    size_t n_layers;
} $_tables;

static void $(const $_tables *m, const float *x, float *scores)
{
    float here[@@_MAX_UNITS];
    float there[@@_MAX_UNITS];
    for (size_t l = 0; l < m->n_layers; l++) {
        const $_layer *layer = &m->layers[l];
        const int is_last = l + 1 == m->n_layers;
        float *out = is_last ? scores : l % 2 == 0 ? here : there;
        for (size_t j = 0; j < layer->n; j++) {
            const float total = layer->biases[j] + @_dot(&layer->weights, j, x);
            out[j] = is_last || total > 0.0f ? total : 0.0f;
        }
        x = out;
    }
}
"""


def lower_hinges(predictor, program):
    c_rows.dot(program)
    program.at_least("UNITS", max(len(biases) for biases in predictor.biases[:-1]))
    function = program.define("hinges", _HINGES)
    layers = [
        {
            "weights": program.matrix("layer_weights", weights.T),
            "biases": program.vector("layer_biases", biases),
            "n": len(biases),
        }
        for weights, biases in zip(predictor.weights, predictor.biases, strict=True)
    ]
    tables = {
        "layers": program.constant("layers", f"{function}_layer", layers),
        "n_layers": len(layers),
    }
    return Part(function, tables, predictor.n_outputs, predictor.cost.multiply_adds)
