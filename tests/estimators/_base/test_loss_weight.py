"""C of kernel machines on values: found on held-out rows where it is "auto"."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from nearlinear import LMKLRegressor, MLLKMRegressor, UniformMKLRegressor
from nearlinear.estimators import uniform_mkl
from nearlinear.estimators._base.capacity import Verdict
from nearlinear.estimators._base.values import loss_weight

METHODS = [UniformMKLRegressor, LMKLRegressor, MLLKMRegressor]
EACH = pytest.mark.parametrize("method", METHODS, ids=lambda one: one.__name__)
SEED = {LMKLRegressor: {"random_state": 0}, MLLKMRegressor: {"random_state": 0, "n_anchors": 40}}


def make(method, **settings):
    return method(**SEED.get(method, {}), **settings)


def line(noise, n_rows=240):
    """Values along a line with so much noise; the last 2,000 rows test."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows + 2000, 6))
    y = 10.0 + X @ rng.standard_normal(6) + noise * rng.standard_normal(len(X))
    return X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:]


@EACH
def test_a_noisy_line_is_learned_about_as_well_as_by_a_linear_model(method):
    X, y, X_test, y_test = line(noise=5.0, n_rows=500)
    model = make(method).fit(X, y)
    linear = Ridge().fit(X, y).score(X_test, y_test)
    assert model.score(X_test, y_test) > linear - 0.02
    assert make(method, C=10.0).fit(X, y).score(X_test, y_test) < linear - 0.05
    assert model.C_ < 10.0
    assert [one.setting for one in model.settings_tried_] == [0.03, 0.1, 0.3, 1.0, 3.0, 10.0]


@EACH
def test_what_was_found_is_what_was_asked_for(method):
    X, y, X_test, _ = line(noise=1.0, n_rows=60)
    found = make(method).fit(X, y)
    asked = make(method, C=found.C_).fit(X, y)
    np.testing.assert_array_equal(found.predict(X_test), asked.predict(X_test))
    assert not hasattr(asked, "C_")
    assert found.C == "auto"


def test_a_bent_line_without_noise_is_followed_closely():
    X, _, X_test, _ = line(noise=0.0)
    model = UniformMKLRegressor().fit(X, np.sin(2.0 * X[:, 0]))
    assert model.C_ >= 3.0
    assert model.score(X_test, np.sin(2.0 * X_test[:, 0])) > 0.5


@EACH
def test_values_far_out_do_not_decide(method):
    X, y, X_test, y_test = line(noise=0.5)
    y = y.copy()
    y[[3, 50, 100]] += [1e3, -1e3, 1e9]
    assert make(method).fit(X, y).score(X_test, y_test) > 0.85


def test_values_that_gain_nothing_are_the_last():
    X, y, *_ = line(noise=5.0, n_rows=500)
    model = UniformMKLRegressor().fit(X, y)
    assert model.settings_tried_[-1] == Verdict(10.0, np.inf)


def test_the_search_tells_what_it_does(capsys):
    X, y, *_ = line(noise=5.0)
    model = make(MLLKMRegressor, verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("MLLKMRegressor: C = 0.03, ")
    assert any(line.startswith(f"MLLKMRegressor: C = {model.C_:g} is taken") for line in lines)


def test_a_sample_stands_for_many_rows(monkeypatch):
    monkeypatch.setattr(loss_weight, "_SAMPLE", 60)
    X, y, *_ = line(noise=5.0)
    seen = []

    def learn(model, rows):
        seen.append(rows.X.shape[0])
        return own(model, rows)

    own = uniform_mkl._learn
    monkeypatch.setattr(uniform_mkl, "_learn", learn)
    UniformMKLRegressor().fit(X, y)
    assert set(seen) == {48, len(X)}


def test_where_nothing_can_be_held_out_a_usual_weight_is_taken():
    X, y, *_ = line(noise=1.0, n_rows=19)
    assert UniformMKLRegressor().fit(X, y).C_ == 1.0
    X, y, *_ = line(noise=1.0, n_rows=60)
    assert UniformMKLRegressor("precomputed").fit((X @ X.T)[:, :, None], y).C_ == 10.0
    anchors = iter(X[:20])
    assert MLLKMRegressor(anchors=anchors, random_state=0).fit(X, y).C_ == 10.0
    assert MLLKMRegressor(random_state=0).partial_fit(X, y).C_ == 10.0


def test_a_stream_goes_on_with_what_its_fit_has_found():
    X, y, *_ = line(noise=5.0, n_rows=100)
    model = MLLKMRegressor(n_anchors=20, max_support=50, random_state=0).fit(X[:60], y[:60])
    C, tried = model.C_, model.settings_tried_
    assert C < 10.0
    model.partial_fit(X[60:], y[60:]).finish()
    assert (model.C_, model.settings_tried_) == (C, tried)
    asked = MLLKMRegressor(n_anchors=20, max_support=50, random_state=0, C=C)
    asked.fit(X[:60], y[:60]).partial_fit(X[60:], y[60:]).finish()
    np.testing.assert_array_equal(model.predict(X), asked.predict(X))


def test_an_interrupted_search_leaves_the_model_as_it_was(monkeypatch):
    X, y, *_ = line(noise=1.0, n_rows=60)
    own = uniform_mkl._learn
    monkeypatch.setattr(
        uniform_mkl, "_learn", lambda model, rows: replace(own(model, rows), kept="it is")
    )
    model = UniformMKLRegressor()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert not hasattr(model, "predictor_")
