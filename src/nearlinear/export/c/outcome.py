"""C of probabilities and labels: what scores mean."""

import numpy as np

from ...kinds import rule_for
from ...runtime.outcome import ramps
from .literals import CSourceError, filled, float_literal

_PROBABILITIES = """
void @_probabilities(const float *x, float *probabilities)
{
    float scores[<N_SCORES>];
    @_scores(x, scores);
<LINES>
}
"""
_ONE = """
    <FUNCTION>(0, scores, probabilities);"""
_MEAN = """
    for (int c = 0; c < <N_CLASSES>; c++)
        probabilities[c] = 0.0f;
    for (size_t k = 0; k < <N_MODELS>; k++) {
        float values[<N_CLASSES>];
        <FUNCTION>(k, scores + <N_OUTPUTS> * k, values);
        for (int c = 0; c < <N_CLASSES>; c++)
            probabilities[c] += values[c] / <N_MODELS>.0f;
    }"""

# Functions (number of a model, its scores, probabilities of the classes); a model may need no
# number of its own.
_CALIBRATED = """
/* Probabilities of the classes from the scores of the model k. */
static void $(size_t k, const float *scores, float *values)
{<VALUES><FINISH>
}
"""
_ODDS_OF_TWO = """
    (void)k;
    values[0] = 0.0f;
    values[1] = scores[0];"""
_ODDS = """
    (void)k;
    for (int c = 0; c < <N_CLASSES>; c++)
        values[c] = scores[c];"""
_SHARES_OF_TWO = """
    (void)k;
    values[0] = 0.5f - 0.5f * scores[0];
    values[1] = 0.5f + 0.5f * scores[0];"""
# either from its own exponential: 1 − p of a p near 1 has no digits in single precision
_SIGMOIDS_OF_TWO = """
    const float above = <SLOPES>[k] * scores[0] + <OFFSETS>[k];
    values[0] = 1.0f / (1.0f + expf(-above));
    values[1] = 1.0f / (1.0f + expf(above));"""
_SIGMOIDS = """
    for (size_t o = 0; o < <N_OUTPUTS>; o++) {
        const size_t i = <N_OUTPUTS> * k + o;
        values[o] = 1.0f / (1.0f + expf(<SLOPES>[i] * scores[o] + <OFFSETS>[i]));
    }"""
_HEATED_TWO = """
    values[0] = -<FACTORS>[k] * scores[0];
    values[1] = <FACTORS>[k] * scores[0];"""
_HEATED = """
    for (int c = 0; c < <N_CLASSES>; c++)
        values[c] = <FACTORS>[k] * scores[c];"""
_RAMPS = """
    for (size_t o = 0; o < <N_OUTPUTS>; o++) {
        const size_t i = <N_OUTPUTS> * k + o;
        values[o] = <FIRST>[i];
        for (size_t r = <BOUNDS>[i]; r < <BOUNDS>[i + 1]; r++) {
            const float along = (scores[o] - <STARTS>[r]) * <STEEPNESS>[r];
            values[o] += <RISES>[r] * (along < 0.0f ? 0.0f : along > 1.0f ? 1.0f : along);
        }
    }"""
_SOFTMAX = """
    float largest = values[0], total = 0.0f;
    for (int c = 1; c < <N_CLASSES>; c++)
        if (values[c] > largest)
            largest = values[c];
    for (int c = 0; c < <N_CLASSES>; c++) {
        values[c] = expf(values[c] - largest);
        total += values[c];
    }
    for (int c = 0; c < <N_CLASSES>; c++)
        values[c] /= total;"""
_REST = """
    values[1] = values[0];
    values[0] = 1.0f - values[1];"""
_SHARES = """
    float total = 0.0f;
    for (int c = 0; c < <N_CLASSES>; c++)
        total += values[c];
    for (int c = 0; c < <N_CLASSES>; c++)
        values[c] = total > 0.0f ? values[c] / total : 1.0f / <N_CLASSES>.0f;"""

_PREDICT = """
int @_predict(const float *x)
{
    float <VALUES>[<N_VALUES>];<BEST>
    @_<VALUES>(x, <VALUES>);<CHOICE>
}
"""
_BEST = """
    int best = 0;"""
_CHOOSE_BEST = """
    for (int o = 1; o < <N_VALUES>; o++)
        if (<VALUES>[o] > <VALUES>[best])
            best = o;
    return best;"""
_CHOOSE_SIGN = """
    return scores[0] > 0.0f;"""
_CHOOSE_ABOVE = """
    return <VALUE> >= <AT> ? <POSITIVE> : <OTHER>;"""


_EACH_PROBABILITY = """
void @_probabilities(const float *x, float *probabilities)
{
    @_scores(x, probabilities);
    for (int o = 0; o < <N>; o++)
        probabilities[o] = 1.0f / (1.0f + expf(-probabilities[o]));
}
"""
_EACH_LABEL = """
void @_predict(const float *x, int *labels)
{
    float scores[<N>];
    @_scores(x, scores);
    for (int o = 0; o < <N>; o++)
        labels[o] = scores[o] > 0.0f;
}
"""


def label_calls(outcome, n_labels):
    """The public functions for rows that may have several labels."""
    text = _EACH_PROBABILITY if outcome.gives_probabilities else ""
    return filled(text + _EACH_LABEL, n=n_labels)


def outcome_calls(program, outcome, n_models, n_outputs, n_classes):
    """The public functions for probabilities and labels."""
    text = ""
    if outcome.gives_probabilities:
        function = calibrated(program, outcome.calibration, n_outputs, n_classes)
        lines = (_ONE if n_models == 1 else _MEAN).lstrip("\n")
        text += filled(_PROBABILITIES, lines=lines, function=function)
    n_scores = n_models * n_outputs
    text += _predict(outcome, n_scores, n_classes)
    counts = {"n_models": n_models, "n_outputs": n_outputs, "n_classes": n_classes}
    return filled(text, n_scores=n_scores, **counts)


def _predict(outcome, n_scores, n_classes):
    threshold = outcome.threshold
    of_probabilities = outcome.is_calibrated
    if threshold is not None:
        of_probabilities = threshold.of == "probability"
        positive, at = threshold.positive, float_literal(threshold.at)
        sign = "" if positive or of_probabilities else "-"
        value = f"{sign}<VALUES>[{positive if of_probabilities else 0}]"
        choice = filled(_CHOOSE_ABOVE, value=value, at=at, positive=positive, other=1 - positive)
    else:
        choice = _CHOOSE_BEST if of_probabilities or n_scores > 1 else _CHOOSE_SIGN
    best = _BEST if choice is _CHOOSE_BEST else ""
    values, n_values = "scores", n_scores
    if of_probabilities:
        values, n_values = "probabilities", n_classes
    return filled(_PREDICT, choice=choice, best=best, values=values, n_values=n_values)


def calibrated(program, calibration, n_outputs, n_classes):
    """The function for all models; they are calibrated in one way."""
    lowered = rule_for("c", calibration[0], CSourceError)
    values, finish, tables = lowered(calibration, program, n_classes == 2)
    symbols = {name: program.vector(f"outcome_{name}", tables[name]) for name in tables}
    text = filled(_CALIBRATED, values=values, finish=finish, **symbols)
    return program.define("calibrated", filled(text, n_outputs=n_outputs, n_classes=n_classes))


def _log_loss(calibration, program, is_two):
    return _ODDS_OF_TWO if is_two else _ODDS, _SOFTMAX, {}


def _own_shares(calibration, program, is_two):
    return _SHARES_OF_TWO if is_two else _ODDS, "", {}


def _temperature(calibration, program, is_two):
    factors = np.concatenate([one.factor for one in calibration])
    return _HEATED_TWO if is_two else _HEATED, _SOFTMAX, {"factors": factors}


def _sigmoids(calibration, program, is_two):
    tables = {
        name: np.concatenate([getattr(one, name) for one in calibration])
        for name in ("slopes", "offsets")
    }
    return (_SIGMOIDS_OF_TWO, "", tables) if is_two else (_SIGMOIDS, _SHARES, tables)


def _tables(calibration, program, is_two):
    lines = [ramps(*t) for one in calibration for t in zip(one.scores, one.probabilities)]
    tables = {"first": [line[0] for line in lines]}
    for place, name in enumerate(("starts", "steepness", "rises"), start=1):
        tables[name] = np.concatenate([line[place] for line in lines])
    bounds = np.cumsum([0, *(len(line[1]) for line in lines)])
    values = filled(_RAMPS, bounds=program.indices("ramp_bounds", bounds))
    return values, _REST if is_two else _SHARES, tables


CALIBRATIONS = {
    "LogLoss": _log_loss,
    "Shares": _own_shares,
    "Temperature": _temperature,
    "Sigmoids": _sigmoids,
    "Tables": _tables,
}
