"""Linear models that fade with the distance from their anchors."""

import numpy as np

from ....kernels.conformal import PROFILES
from .. import rows as c_rows
from ..literals import filled
from ..program import Part

_TEXT = """
typedef struct {
    @_matrix anchors;
    const float *gammas;
    @_matrix weights;
    const uint16_t *starts;
    const uint16_t *outputs;
    const float *biases;
    size_t n_kernels;
    size_t n_outputs;
} $_tables;

static void $(const $_tables *m, const float *x, float *scores)
{
    float away[@@_MAX_FEATURES];
    for (size_t o = 0; o < m->n_outputs; o++)
        scores[o] = m->biases[o];
    for (size_t k = 0; k < m->n_kernels; k++) {<MEET>
        for (size_t p = m->starts[k]; p < m->starts[k + 1]; p++)
            scores[m->outputs[p]] += <H>@_dot(&m->weights, p, away);
    }
}
"""
_MEET_WHOLE = """
        float u = 0.0f;
        for (size_t d = 0; d < m->anchors.width; d++) {
            away[d] = x[d] - @_entry(&m->anchors, k, d);
            u += away[d] * away[d];
        }<ROOT>
        u *= m->gammas[k];<SKIP>
        const float h = <FADE>;"""
_MEET_EACH = """
        for (size_t d = 0; d < m->anchors.width; d++) {
            const float moved = x[d] - @_entry(&m->anchors, k, d);
            const float u = m->gammas[k] * <DISTANCE>;
            away[d] = <FADE>;
        }"""
_SKIP = """
        if (!(u < 1.0f))
            continue;"""


def lower_conformal(predictor, program):
    """The C of a ``ConformalLinear``."""
    profile = PROFILES[predictor.profile]
    c_rows.entry(program)
    c_rows.dot(program)
    meet = _meet_each(profile) if predictor.per_feature else _meet_whole(profile)
    h = "" if predictor.per_feature else "h * "
    function = program.define("conformal", filled(_TEXT, meet=meet, h=h))
    n_kernels, n_features = predictor.anchors.shape
    program.at_least("FEATURES", n_features)
    starts = np.searchsorted(predictor.kernels, np.arange(n_kernels + 1))
    tables = {
        "anchors": program.matrix("anchors", predictor.anchors),
        "gammas": program.vector("gammas", predictor.gammas),
        "weights": program.matrix("weights", predictor.weights),
        "starts": program.indices("terms", starts),
        "outputs": program.indices("outputs", predictor.outputs),
        "biases": program.vector("biases", predictor.biases),
        "n_kernels": n_kernels,
        "n_outputs": len(predictor.biases),
    }
    return Part(function, tables, len(predictor.biases), predictor.cost.multiply_adds)


def _meet_whole(profile):
    fade = "1.0f - u" if profile.is_bounded else "expf(-u)"
    skip = _SKIP if profile.is_bounded else ""
    root = "\n        u = sqrtf(u);" if profile.of_root else ""
    return filled(_MEET_WHOLE, skip=skip, root=root, fade=fade)


def _meet_each(profile):
    distance = "(moved < 0.0f ? -moved : moved)" if profile.of_root else "moved * moved"
    bounded = "u < 1.0f ? (1.0f - u) * moved : 0.0f"
    fade = bounded if profile.is_bounded else "expf(-u) * moved"
    return filled(_MEET_EACH, distance=distance, fade=fade)
