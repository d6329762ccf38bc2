"""The picture of accuracy against prediction cost."""

import doctest

import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from nearlinear import LLSVMClassifier
from nearlinear.displays import cost_front
from nearlinear.displays.cost_front import (
    CostFrontDisplay,
    ModelPoint,
    draw_cost_fronts,
    pareto_front,
)

CHEAP = ModelPoint("Cheap", 0.1, 90.0)
GOOD = ModelPoint("GoodClassifier", 1.0, 98.0, highlighted=True)
BEATEN = ModelPoint("Beaten", 2.0, 97.0)


@pytest.mark.parametrize("points", [[CHEAP, GOOD, BEATEN], [BEATEN, GOOD, CHEAP]])
def test_front_holds_the_unbeaten_cheapest_first(points):
    assert pareto_front(points) == [CHEAP, GOOD]


def test_of_two_equally_cheap_models_the_better_is_on_the_front():
    worse = CHEAP._replace(name="Worse", accuracy=80.0)
    assert pareto_front([worse, CHEAP]) == [CHEAP]


def test_every_point_is_drawn_and_labeled():
    pytest.importorskip("matplotlib")
    figure = draw_cost_fronts({"left": [CHEAP, GOOD, BEATEN], "right": [CHEAP]})
    left, right = figure.axes
    assert [text.get_text() for text in left.texts] == ["Cheap", "Good", "Beaten"]
    assert [text.get_text() for text in right.texts] == ["Cheap"]
    assert sum(len(drawn.get_offsets()) for drawn in left.collections) == 3
    assert left.get_xscale() == "log"


def test_labels_of_close_points_do_not_overlap():
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    crowd = [ModelPoint(f"model {i}", 1.0 + 0.02 * i, 95.0 + 0.3 * (i % 2)) for i in range(4)]
    wide = [ModelPoint("low", 0.01, 90.0), ModelPoint("high", 100.0, 99.0)]
    display = CostFrontDisplay([*wide, *crowd]).plot(Figure(figsize=(7, 5)).subplots())
    boxes = [text.get_window_extent() for text in display.ax_.texts]
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:i])


def test_fitted_models_are_scored_and_timed(moons):
    pytest.importorskip("matplotlib")
    X, y = moons
    ours = make_pipeline(StandardScaler(), LLSVMClassifier(5, random_state=0)).fit(X, y)
    display = CostFrontDisplay.from_estimators({"ours": ours, "SVC": SVC().fit(X, y)}, X, y)
    assert [(point.name, point.highlighted) for point in display.points] == [
        ("ours", True), ("SVC", False),
    ]  # fmt: skip
    assert display.points[0].accuracy == 100.0 * ours.score(X, y)
    assert all(point.us_per_row > 0 for point in display.points)
    assert doctest.testmod(cost_front).failed == 0
