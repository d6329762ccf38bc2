"""Pair columns before any model: which are found, and that nothing else decides them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.utils.estimator_checks import estimator_checks_generator

from nearlinear import PairFeatures

CHECKS = list(estimator_checks_generator(PairFeatures(2)))


@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_checks():
    for estimator, check in CHECKS:
        try:
            check(estimator)
        except pytest.skip.Exception:
            continue
        except Exception as error:
            if type(error).__name__ != "SkipTest":
                raise


def rows(n_rows=400):
    X = np.random.default_rng(0).normal(size=(n_rows, 4)) * [1.0, 5.0, 1.0, 1.0]
    X[:, 3] = np.round(X[:, 3])  # of few values
    return X


TARGETS = {
    "two classes": lambda X: np.where(X[:, 0] > X[:, 2], "a", "b"),
    "three classes": lambda X: np.digitize(X[:, 0] - X[:, 2], [-0.7, 0.7]),
    "values": lambda X: np.abs(X[:, 0] - X[:, 2]),
    "two values": lambda X: np.column_stack([np.abs(X[:, 0] - X[:, 2]), 1e3 * X[:, 1]]),
}


@pytest.mark.parametrize("kind", TARGETS)
def test_the_pair_that_tells_most_is_found(kind):
    X = rows()
    y = TARGETS[kind](X)
    model = PairFeatures(1, random_state=0).fit(X, y)
    assert_array_equal(model.pairs_, [[0, 2]])
    assert_allclose(model.factors_[0, 1], -1.0, atol=0.25)
    assert_allclose(model.transform(X)[:, 4], X[:, [0, 2]] @ model.factors_[0], rtol=1e-12)
    assert model.transform(X.astype(np.float32)).dtype == np.float32


def test_weights_are_copies_and_the_order_of_rows_does_not_matter():
    X, rng = rows(200), np.random.default_rng(1)
    y, weight = TARGETS["two classes"](X), rng.integers(0, 4, len(X))
    model = PairFeatures(5, random_state=0).fit(X, y, sample_weight=weight)
    order = rng.permutation(np.repeat(np.arange(len(X)), weight))
    other = PairFeatures(5, random_state=0).fit(X[order], y[order])
    assert_array_equal(model.pairs_, other.pairs_)
    assert_array_equal(model.factors_, other.factors_)


def test_numbers_beyond_single_precision_are_refused():
    with pytest.raises(ValueError, match="beyond single precision"):
        PairFeatures().fit(rows() * 1e300, TARGETS["values"](rows()))
