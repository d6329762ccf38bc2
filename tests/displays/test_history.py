"""The picture of how a fit went."""

import doctest

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from nearlinear import LDKLClassifier, LDKLRegressor, LLCSAPLClassifier, LLSVMClassifier
from nearlinear.displays import HistoryDisplay, history

FEW = {"max_iter": 6, "random_state": 0}


@pytest.fixture(scope="module")
def stopped(moons):
    return LDKLClassifier(2, early_stopping=True, **FEW).fit(*moons)


def test_curves_are_those_of_the_history(stopped):
    display = HistoryDisplay.from_estimator(make_pipeline(StandardScaler(), stopped))
    told = stopped.history_
    shown = display.lines_["objective"].get_xydata()
    np.testing.assert_array_equal(shown, [(one.step, one.objective) for one in told])
    shown = display.lines_["held-out rows"].get_ydata()
    np.testing.assert_array_equal(shown, [one.score for one in told])
    soft = display.lines_["soft splits"].get_ydata()
    known = [one.figures.get("soft splits", np.nan) for one in told]
    np.testing.assert_array_equal(soft, known)


def test_the_best_held_out_score_is_circled(stopped):
    display = HistoryDisplay.from_estimator(stopped)
    (circle,) = display.score_ax_.collections
    ((step, score),) = circle.get_offsets()
    scores = [one.score for one in stopped.history_]
    assert score == max(scores)
    assert step == stopped.history_[int(np.argmax(scores))].step
    assert display.score_ax_.get_ylabel() == "accuracy, held-out rows"


def test_scores_of_training_rows_are_called_so(moons):
    model = LDKLRegressor(2, **FEW).fit(*moons)
    display = HistoryDisplay.from_estimator(model)
    assert set(display.scores) == {"soft splits", "hard splits"}
    assert display.score_ax_.get_ylabel() == "R², training rows"


def test_without_scores_there_is_one_panel(moons):
    display = HistoryDisplay.from_estimator(LLCSAPLClassifier(5, **FEW).fit(*moons))
    assert display.score_ax_ is None
    assert len(display.figure_.axes) == 1
    assert np.isfinite(display.objective).all()


def test_a_model_without_a_history_is_refused(moons):
    model = LLSVMClassifier(5, random_state=0).fit(*moons)
    with pytest.raises(TypeError, match=r"draws models with history_.*not LLSVMClassifier"):
        HistoryDisplay.from_estimator(model)


def test_the_example_in_the_docstring_runs():
    assert doctest.testmod(history).failed == 0
