"""Candidates compared on a device against NumPy: every profile, and fits that choose the same."""

from functools import partial

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch, of the extra gpu, is not installed")

from sklearn.datasets import make_moons

from nearlinear import MLLKMClassifier, MLLKMRegressor
from nearlinear.estimators._base import conformal as estimators_conformal
from nearlinear.gpu.conformal import pricing
from nearlinear.kernels.candidates import ConformalBank
from nearlinear.kernels.conformal import PROFILES
from nearlinear.kernels.conformal_grams import ConformalGrams


@pytest.fixture
def device(monkeypatch, place):
    """What to give as ``device``: on a machine without a GPU, the engine runs on torch's CPU."""
    if place[1] != "plain":
        pytest.skip("pricing has one form")
    if place[0] == "cpu":
        monkeypatch.setattr(
            estimators_conformal,
            "on_device",
            lambda _, own: partial(getattr(pricing, own.__name__), device="cpu"),
        )
        monkeypatch.setattr(estimators_conformal, "free_bytes", lambda device: 1e9)
    return "cuda"


@pytest.mark.parametrize("dtype, tol", [(np.float64, 1e-11), (np.float32, 2e-4)])
@pytest.mark.parametrize("per_feature", [False, True])
@pytest.mark.parametrize("profile", sorted(PROFILES))
def test_prices_are_those_of_numpy(monkeypatch, place, profile, per_feature, dtype, tol):
    if place[1] != "plain":
        pytest.skip("pricing has one form")
    monkeypatch.setattr(pricing, "_FEWEST", 0)
    # several blocks of rows and of anchors, the last ones short
    monkeypatch.setattr(pricing, "_MOST_ROWS", 50)
    monkeypatch.setattr(pricing, "_BLOCK_BYTES", 50 * 8 * 7 * (3 if per_feature else 1))
    rng = np.random.default_rng(0)
    X = (rng.standard_normal((120, 3)) + 30.0).astype(dtype)
    bank = ConformalBank.of_all(X[:25], [0.1, 0.5, 2.0], PROFILES[profile], per_feature)
    bank.divisors = rng.random(len(bank)) + 0.5
    coef = rng.standard_normal(120) * (np.arange(120) % 3 > 0)
    wanted = ConformalGrams(bank, X, dtype=dtype)
    found = pricing.ConformalGrams(bank, X, dtype=dtype, device=place[0])
    some = rng.permutation(len(bank))[:40]
    for which in (np.arange(len(bank)), some, some[:0]):
        right = wanted.quadratics(coef, which)
        np.testing.assert_allclose(found.quadratics(coef, which), right, rtol=tol,
                                   atol=tol * np.abs(right).max(initial=0.0))  # fmt: skip
    assert not found.quadratics(np.zeros(120), some).any()
    assert type(found.in_double()) is type(found.on_rows(some)) is pricing.ConformalGrams


@pytest.mark.parametrize(
    "model, n_rows",
    [
        (MLLKMClassifier(random_state=0), 1200),
        (MLLKMClassifier("linear", per_feature=True, selection_rows=200, random_state=0), 300),
        (MLLKMRegressor("square", n_anchors=60, random_state=0), 300),
    ],
    ids=["single precision", "per feature, of a sample", "values"],
)
def test_a_fit_chooses_the_same_kernels(device, model, n_rows):
    X, y = make_moons(n_rows, noise=0.3, random_state=0)
    wanted = model.fit(X, y)
    found = type(model)(**{**model.get_params(), "device": device}).fit(X, y)
    np.testing.assert_array_equal(found.anchors_, wanted.anchors_)
    np.testing.assert_array_equal(found.gammas_, wanted.gammas_)
    scores = [getattr(one, "decision_function", one.predict)(X) for one in (found, wanted)]
    np.testing.assert_allclose(*scores, atol=1e-6)
    assert found.duality_gap_ == pytest.approx(wanted.duality_gap_, abs=1e-6 * wanted.objective_)


def test_rows_that_do_not_fit_are_refused_before_anything_is_allocated(device, monkeypatch):
    monkeypatch.setattr(estimators_conformal, "free_bytes", lambda device: 1e5)
    with pytest.raises(MemoryError, match="leave device out"):
        MLLKMRegressor(device=device).fit(np.eye(30), np.arange(30.0))
