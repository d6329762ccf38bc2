"""The generated test program: rows, the scores that Python gives them, and a comparison."""

import numpy as np

from ..preparation.raw_rows import raw_rows
from .c_literals import float_literal, float_literals, wrapped

TOLERANCE = 1e-4  # of the largest score
_ROWS = 24
_TRIES = 14
_OWN_ROUNDING = 1e-5  # of probabilities
_STEADY = 0.2  # share of the tolerance that rounding may take in a row that proves something

_TEXT = """
/* Compares the scores of @.c with those that Python gave: cc @.c @_test.c -lm */

<INCLUDES>#include <stdio.h>

#include "@.h"

#define N_ROWS <N_ROWS>

static const float rows[N_ROWS][@@_N_FEATURES] = {
<ROWS>
};

static const float expected[N_ROWS][@@_N_OUTPUTS] = {
<EXPECTED>
};
<PROBABILITIES><LABELS>
int main(void)
{
    const float tolerance = <TOLERANCE>;
    int n_wrong = 0;
    for (int i = 0; i < N_ROWS; i++) {
        float scores[@@_N_OUTPUTS];
        int is_wrong = 0;
        @_scores(rows[i], scores);
        for (int o = 0; o < @@_N_OUTPUTS; o++) {
            const float away = scores[o] - expected[i][o];
            if (!(away <= tolerance && away >= -tolerance))
                is_wrong = 1;
        }<COMPARE><PREDICT>
        if (is_wrong)
            printf("row %d of %d differs\\n", i, N_ROWS);
        n_wrong += is_wrong;
    }
    if (n_wrong == 0)
        printf("@: %d rows agree\\n", N_ROWS);
    return n_wrong != 0;
}
"""
_PROBABILITIES = """
static const float expected_probabilities[N_ROWS][@@_N_CLASSES] = {
<NUMBERS>
};
"""
_COMPARE = """
        float probabilities[@@_N_CLASSES];
        @_probabilities(rows[i], probabilities);
        for (int c = 0; c < @@_N_CLASSES; c++) {
            const float off = probabilities[c] - expected_probabilities[i][c];
            if (!(off <= <TOLERANCE> && off >= -<TOLERANCE>))
                is_wrong = 1;
        }"""
_LABELS = """
/* Numbers of classes, -1 where two are level. */
static const int labels[N_ROWS] = {
<NUMBERS>
};
"""
_PREDICT_LABEL = """
        if (labels[i] >= 0 && @_predict(rows[i]) != labels[i])
            is_wrong = 1;"""
_PREDICT_VALUE = """
        if (@_value(rows[i]) < scores[0] || @_value(rows[i]) > scores[0])
            is_wrong = 1;"""


def drawn_rows(predictor, scaling, n_features):
    """Rows like those that a model has learned from, for want of a sample of them."""
    rng = np.random.default_rng(0)
    n_features = n_features if scaling.before is None else scaling.before.width
    rows = rng.standard_normal((_ROWS, n_features))
    known = _known_rows(predictor)
    if known is not None and len(known):
        known = known[rng.integers(len(known), size=_ROWS), :n_features]
        rows = known + 0.3 * known.std() * rows
    rows = rows if scaling.factor is None else rows / scaling.factor
    rows = rows if scaling.shift is None else rows + scaling.shift
    return rows if scaling.before is None else raw_rows(scaling.before, rows)


def _known_rows(part):
    """Anchors or support rows of a model."""
    for name in ("anchors", "support"):
        if hasattr(part, name):
            return np.asarray(getattr(part, name))
    for name in ("components", "expansion", "gate"):
        if hasattr(part, name) and (found := _known_rows(getattr(part, name))) is not None:
            return found
    return _known_rows(part.outputs[0]) if hasattr(part, "outputs") else None


def checking_program(found):
    """C text of the program for some rows of a ``Comparison``."""
    tolerance = TOLERANCE * max(float(np.abs(found.expected).max()), 1e-30)
    shown = _steady_rows(found.expected, found.after, tolerance)
    rows, scores = found.rows[shown], found.expected[shown]
    text = _TEXT.lstrip("\n").replace("<N_ROWS>", str(len(rows)))
    text = text.replace("<ROWS>", _nested(rows)).replace("<EXPECTED>", _nested(scores))
    text = text.replace("<TOLERANCE>", float_literal(tolerance))
    text = text.replace("<INCLUDES>", "#include <math.h>\n" if np.any(np.isnan(rows)) else "")
    if found.meaning.classes is None:
        text = text.replace("<PROBABILITIES>", "").replace("<COMPARE>", "")
        return text.replace("<LABELS>", "").replace("<PREDICT>", _PREDICT_VALUE)
    near = _near(scores, 2.0 * tolerance)
    compare, expected = _probabilities(found.meaning, scores, near)
    text = text.replace("<PROBABILITIES>", expected).replace("<COMPARE>", compare)
    numbers = wrapped([str(label) for label in _labels(found.meaning, scores, near)])
    text = text.replace("<LABELS>", _LABELS.replace("<NUMBERS>", numbers))
    return text.replace("<PREDICT>", _PREDICT_LABEL)


def _near(scores, margin):
    """The same scores after rounding errors of that size, some times."""
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (_TRIES, scores.shape[1]))
    return [scores + margin * sign for sign in (*signs, 1.0, -1.0)]


def _probabilities(meaning, scores, near):
    """What the program compares, and with what; the tolerance is what rounding may do."""
    if not meaning.outcome.gives_probabilities:
        return "", ""
    exact = meaning.probabilities(scores)
    away = max(np.abs(meaning.probabilities(one) - exact).max() for one in near)
    compare = _COMPARE.replace("<TOLERANCE>", float_literal(away + _OWN_ROUNDING))
    return compare, _PROBABILITIES.replace("<NUMBERS>", _nested(exact))


def _steady_rows(exact, rounded, tolerance):
    """Numbers of a few rows whose scores do not hang on a rounding error, as far as there are."""
    away = np.abs(exact - rounded).max(axis=1)
    found = np.flatnonzero(away <= max(_STEADY * tolerance, away.min()))
    return found[np.unique(np.linspace(0, len(found) - 1, _ROWS).astype(int))]


def _labels(meaning, scores, near):
    """Numbers of classes; -1 where rounding could decide."""
    places = meaning.places(scores)
    is_clear = np.all([meaning.places(one) == places for one in near], axis=0)
    return np.where(is_clear, places, -1)


def _nested(rows):
    return ",\n".join(f"    {{\n{wrapped(_literals(row), ' ' * 8)}\n    }}" for row in rows)


def _literals(row):
    """Numbers of a row; some may be missing."""
    texts = float_literals(np.nan_to_num(row, nan=0.0))
    return ["NAN" if np.isnan(value) else text for value, text in zip(row, texts)]
