"""The generated test program: rows, the scores that Python gives them, and a comparison."""

from dataclasses import dataclass

import numpy as np
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import check_array, check_consistent_length

from ...kinds import kind_of
from ...preparation.raw_rows import raw_rows
from ...runtime.outcome import Outcome
from .literals import CSourceError, filled, float_literal, float_literals, too_large, wrapped
from .predictors.forests import rows_near_splits
from .quantized import with_arrays
from .texts import coded, row_texts


@dataclass(frozen=True)
class Meaning:
    """What scores stand for; those of several models are side by side.

    ``texts`` are those of the columns of rows whose numbers stand for a text.
    """

    classes: np.ndarray | None
    outcome: Outcome
    texts: dict

    def _apart(self, scores):
        return np.split(scores, max(1, len(self.outcome.calibration)), axis=1)

    def places(self, scores):
        """Numbers of classes."""
        return self.outcome.places(self._apart(scores))

    def probabilities(self, scores):
        return self.outcome.probabilities(self._apart(scores))


@dataclass(frozen=True)
class Comparison:
    """``before`` are scores of the model and ``after`` of its tables, in float32 arithmetic.

    ``rows`` are float32, as the C code takes them, and ``expected`` what it should give for them
    if it did not round.
    """

    rows: np.ndarray
    before: np.ndarray
    after: np.ndarray
    expected: np.ndarray
    meaning: Meaning
    labels: np.ndarray | None

    @property
    def largest_difference(self):
        return float(np.abs(self.after - self.before).max())

    @property
    def largest_score(self):
        return float(np.abs(self.before).max())

    @property
    def agreement(self):
        """The share of rows that keep their label; None for values."""
        if self.meaning.classes is None:
            return None
        places = self.meaning.places
        return float(np.mean(places(self.before) == places(self.after)))

    def accuracy(self, scores):
        """Accuracy, or R² of values; None without labels."""
        if self.labels is None:
            return None
        if self.meaning.classes is None:
            return float(r2_score(self.labels, scores))
        labels = self.meaning.places(scores)
        if not self.meaning.outcome.is_of_each_label:
            labels = self.meaning.classes[labels]
        return float(accuracy_score(self.labels, labels))


def compare(models, exported, n_features, meaning, rows, labels):
    """Score rows with both; each is a list of predictors and the scaling before them."""
    if rows is None:
        rows = drawn_rows(*exported[0], n_features)
        for column, words in meaning.texts.items():
            codes = np.random.default_rng(column).integers(len(words) or 1, size=len(rows))
            rows[:, column] = np.where(np.isnan(rows[:, column]), np.nan, codes)
    narrow = rows.astype(np.float32)
    single = [(with_arrays(tables, np.float32), scaling) for tables, scaling in exported]
    with np.errstate(all="ignore"):
        after = _scores(single, narrow)
    if not np.all(np.isfinite(after)):
        raise too_large()
    expected = _scores(exported, narrow.astype(np.float64))
    return Comparison(narrow, _scores(models, rows), after, expected, meaning, labels)


def _scores(models, rows):
    prepared = [(one, np.ascontiguousarray(scaling(rows))) for one, scaling in models]
    return np.hstack([predictor(Z) for predictor, Z in prepared])


def checked_sample(sample, labels, n_features, preparation=None, takes_missing=False):
    """Dense rows and their labels, or None for what is not given."""
    if sample is None:
        if labels is not None:
            raise CSourceError("sample_labels were given without their rows: give sample, too.")
        return None, None
    if preparation is not None and preparation.texts:
        sample = coded(preparation, sample)
    sample = check_array(
        sample, accept_sparse="csr", dtype=np.float64, input_name="sample",
        ensure_all_finite=True if preparation is None and not takes_missing else "allow-nan",
    )  # fmt: skip
    sample = sample.toarray() if hasattr(sample, "toarray") else sample
    if sample.shape[1] != n_features:
        raise CSourceError(
            f"sample has {sample.shape[1]} columns and the model takes {n_features}: give rows as "
            "the model takes them."
        )
    if labels is not None:
        labels = np.asarray(labels)
        check_consistent_length(sample, labels)
    return sample, labels


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
<PROBABILITIES><LABELS><ROW_TEXTS>
int main(void)
{
    const float tolerance = <TOLERANCE>;
    int n_wrong = 0;
    for (int i = 0; i < N_ROWS; i++) {
        float scores[@@_N_OUTPUTS];
        int is_wrong = 0;<ENCODE>
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
_PREDICT_LABELS = """
        int found[@@_N_OUTPUTS];
        @_predict(rows[i], found);
        for (int o = 0; o < @@_N_OUTPUTS; o++)
            if (found[o] != (scores[o] > 0.0f))
                is_wrong = 1;"""
_PREDICT_VALUE = """
        if (@_value(rows[i]) < scores[0] || @_value(rows[i]) > scores[0])
            is_wrong = 1;"""


def drawn_rows(predictor, scaling, n_features):
    """Rows like those that a model has learned from, for want of a sample of them."""
    rng = np.random.default_rng(0)
    n_features = n_features if scaling.before is None else scaling.before.width
    rows = rng.standard_normal((_ROWS, n_features))
    predictor = getattr(predictor, "members", (predictor,))[0]
    known = _known_rows(predictor)
    inner = predictor.predictor if kind_of(predictor) == "Exponential" else predictor
    if kind_of(inner) == "Forest":
        rows = rows_near_splits(inner.gate, _ROWS, rng)
    elif known is not None and len(known):
        known = known[rng.integers(len(known), size=_ROWS), :n_features]
        rows = known + 0.3 * known.std() * rows
    rows = rows if scaling.factor is None else rows / scaling.factor
    rows = rows if scaling.shift is None else rows + scaling.shift
    return rows if scaling.before is None else raw_rows(scaling.before, rows)


def _known_rows(part):
    """Anchors or support rows of a model."""
    for name in ("anchors", "support", "landmarks"):
        if hasattr(part, name):
            return np.asarray(getattr(part, name))
    for name in ("components", "expansion", "gate"):
        if hasattr(part, name) and (found := _known_rows(getattr(part, name))) is not None:
            return found
    return _known_rows(part.outputs[0]) if hasattr(part, "outputs") else None


def checking_program(found):
    """C text of the program for some rows of a ``Comparison``."""
    tolerance, shown = _tolerance(found), _shown(found)
    rows, scores = found.rows[shown], found.expected[shown]
    compare = expected = labels = ""
    predict = _PREDICT_VALUE if scores.shape[1] == 1 else ""
    if found.meaning.classes is not None:
        near, predict = _near(scores, 2.0 * tolerance), _PREDICT_LABELS
        compare, expected = _probabilities(found.meaning, scores, near)
    if found.meaning.classes is not None and not found.meaning.outcome.is_of_each_label:
        predict = _PREDICT_LABEL
        numbers = [str(label) for label in _labels(found.meaning, scores, near)]
        labels = filled(_LABELS, numbers=wrapped(numbers))
    tables, encode = (
        row_texts(found.meaning.texts) if any(found.meaning.texts.values()) else ("", "")
    )
    text = filled(
        _TEXT,
        row_texts=tables,
        n_rows=len(rows),
        rows=_nested(rows),
        expected=_nested(scores),
        tolerance=float_literal(tolerance),
        includes="#include <math.h>\n" if np.any(np.isnan(rows)) else "",
        probabilities=expected,
        compare=compare,
        labels=labels,
        predict=predict,
    )
    if encode:
        text = text.replace("(rows[i]", "(row")
    return filled(text, encode=encode).lstrip("\n")


def shown_rows(found):
    """The rows of the program."""
    return found.rows[_shown(found)]


def _tolerance(found):
    return TOLERANCE * max(float(np.abs(found.expected).max()), 1e-30)


def _shown(found):
    return _steady_rows(found.expected, found.after, _tolerance(found))


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
    compare = filled(_COMPARE, tolerance=float_literal(away + _OWN_ROUNDING))
    return compare, filled(_PROBABILITIES, numbers=_nested(exact))


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
