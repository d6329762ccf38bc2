"""A budget for one row at a time is held against times of single rows, not of batches."""

from sklearn.datasets import make_moons

from nearlinear import NearLinearClassifier
from nearlinear.search import search


def test_a_model_that_is_slow_for_one_row_is_left_out(monkeypatch):
    def told(predictor, row):
        return 1.0 if type(predictor).__name__ == "Additive" else 100.0

    monkeypatch.setattr(search, "measured_single_us", told)
    X, y = make_moons(120, noise=0.2, random_state=0)
    model = NearLinearClassifier(single_row_us=50.0, random_state=0).fit(X, y)
    slow = [one for one in model.record_ if one["single_row_us"] >= 100.0]
    assert slow
    assert not any(one["is_chosen"] for one in slow)
