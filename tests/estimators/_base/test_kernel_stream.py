"""Candidates as a stream: the same optimum, read lazily, forgotten on a budget."""

import numpy as np
import pytest
from grids import in_one_test
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError

from nearlinear import (
    MLLKMClassifier,
    MLLKMRegressor,
    SequentialMKLClassifier,
    SequentialMKLRegressor,
)
from nearlinear.estimators import sequential_mkl
from nearlinear.estimators._base.model import Learned
from nearlinear.estimators._base.streams.kernels import Step, in_chunks, learn_chunks
from nearlinear.kernels import bank

TOL = 1e-3
X, LABELS = make_classification(60, 4, n_informative=3, n_redundant=0, random_state=0)
THREE = np.digitize(X[:, 0] * X[:, 1], [-0.5, 0.5])
VALUES = np.sin(2 * X[:, 0]) + X[:, 1] ** 2
KERNELS = bank(widths=5).members(4)[::-1]  # those on all columns come last


def sequential(kernels, cls=SequentialMKLClassifier, **settings):
    return cls(kernels, C=1.0, tol=TOL, **settings)


def mllkm(anchors, cls=MLLKMClassifier, **settings):
    return cls(anchors=anchors, C=1.0, tol=TOL, **settings)


CASES = {
    "sequential": (sequential, KERNELS, LABELS, {}),
    "sequential, three classes": (sequential, KERNELS, THREE, {}),
    "sequential, values": (sequential, KERNELS, VALUES, {"cls": SequentialMKLRegressor}),
    "mllkm": (mllkm, X, LABELS, {}),
    "mllkm, refined": (mllkm, X, LABELS, {"refinement": "models"}),
    "mllkm, three classes": (mllkm, X, THREE, {}),
    "mllkm, values": (mllkm, X, VALUES, {"cls": MLLKMRegressor}),
}


def assert_as_good(found, whole):
    """Both are within the tolerance of the optimum over the same candidates."""
    assert abs(found.objective_ - whole.objective_) <= TOL * whole.objective_
    assert -1e-9 <= found.duality_gap_ <= TOL * found.objective_
    assert getattr(found, "n_priced_", 0) == getattr(whole, "n_priced_", 0)
    assert len(getattr(found, "kernels_", ())) == len(getattr(whole, "kernels_", ()))


@in_one_test("name", CASES)
def test_kernels_that_are_added_or_streamed_give_the_fit_to_all(name, monkeypatch):
    make, candidates, y, settings = CASES[name]
    whole = make(candidates, **settings).fit(X, y)
    some = make(candidates[:20], **settings).fit(X, y)
    assert some.objective_ > whole.objective_ * (1 + 2 * TOL)
    assert_as_good(some.add_kernels(candidates[20:], X, y), whole)
    if make is sequential:
        monkeypatch.setattr(sequential_mkl, "CHUNK", len(candidates) // 2)
    assert_as_good(make(iter(candidates), **settings).fit(X, y), whole)


@in_one_test("name", ["sequential", "mllkm"])
def test_rows_of_other_classes_are_learned_anew(name):
    make, candidates, y, _ = CASES[name]
    model = make(candidates[:20]).fit(X, y).add_kernels(candidates[20:], X, THREE)
    assert_as_good(model, make(candidates).fit(X, THREE))


@in_one_test("name", ["sequential", "mllkm"])
def test_rows_in_single_precision_go_on_from_their_weights(name):
    make, candidates, y, _ = CASES[name]
    rows = X.astype(np.float32)
    some = make(candidates[:20], max_iter=50).fit(rows, y)
    assert some.add_kernels(candidates[20:], rows, y).predictor_.dtype == np.float32
    n_rounds = make(candidates, max_iter=50).fit(rows, y).n_iter_
    again = some.add_kernels(candidates[:1], rows, y)  # nothing new
    assert again.n_iter_ <= n_rounds


class Search:
    """A search that uses the largest ``n_used`` numbers, and writes down what it was offered."""

    def __init__(self, n_used=2, fails_at=None):
        self.n_used, self.fails_at, self.offers = n_used, fails_at, []

    def __call__(self, offered, before):
        if len(self.offers) == self.fails_at:
            raise KeyboardInterrupt
        self.offers.append(offered)
        used = np.isin(np.arange(len(offered)), np.argsort(-offered)[: self.n_used])
        return Step(Learned(offered[used]), used, offered / 100.0)


def counted(numbers, read):
    for number in numbers:
        read.append(number)
        yield number


def test_a_chunk_is_read_when_it_is_due_and_refused_ones_come_again():
    read, search, numbers = [], Search(), [7, 3, 9, 1, 8, 2, 5]
    chunks = map(np.array, in_chunks(counted(numbers, read), 3))

    def learn(offered, before):
        assert len(read) == min(3 * (1 + len(search.offers)), len(numbers))
        return search(offered, before)

    found = learn_chunks(chunks, learn, None)
    np.testing.assert_array_equal(np.sort(found.predictor), [8, 9])
    assert [sorted(offer) for offer in search.offers[:3]] == [[3, 7, 9], [1, 2, 7, 8, 9], [5, 8, 9]]
    assert sorted(search.offers[3]) == sorted(numbers)  # the certificate is over all


def test_on_a_budget_the_least_promising_are_forgotten():
    search, numbers = Search(), np.random.default_rng(0).permutation(100)
    learn_chunks(map(np.array, in_chunks(numbers, 10)), search, 5)
    assert max(map(len, search.offers)) <= 2 + 10
    np.testing.assert_array_equal(np.sort(search.offers[-1]), np.arange(93, 100))


def test_ctrl_c_keeps_what_the_last_whole_chunk_has_left():
    chunks = [np.array([1, 2, 3]), np.array([4, 5])]
    found = learn_chunks(chunks, Search(fails_at=1), None)
    np.testing.assert_array_equal(found.predictor, [2, 3])
    assert "kernels so far" in found.kept
    with pytest.raises(KeyboardInterrupt):
        learn_chunks(chunks, Search(fails_at=0), None)


def test_a_model_that_forgets_is_as_good_among_those_it_remembers():
    candidates = np.concatenate([X, X + 0.2, X - 0.2])
    whole = mllkm(candidates).fit(X, LABELS)
    found = mllkm(candidates, max_refused=6).fit(X, LABELS)
    assert found.duality_gap_ <= TOL * found.objective_
    assert found.n_priced_ < whole.n_priced_
    assert found.objective_ <= 1.05 * whole.objective_


@pytest.mark.parametrize("make", [sequential, mllkm])
def test_what_cannot_be_added_is_refused_in_a_sentence(make):
    candidates = KERNELS if make is sequential else X
    with pytest.raises(ValueError, match="no candidate kernel"):
        make(iter(())).fit(X, LABELS)
    with pytest.raises(NotFittedError):
        make(candidates).add_kernels(candidates, X, LABELS)
    model = make(candidates[:20]).fit(X, LABELS)
    before = model.objective_
    with pytest.raises(ValueError, match=r"no kernel|features"):
        model.add_kernels([3.5] if make is sequential else X[:, :2], X, LABELS)
    assert model.objective_ == before


def test_precomputed_kernels_have_no_more():
    model = SequentialMKLClassifier("precomputed").fit(np.stack([X @ X.T] * 2, axis=2), LABELS)
    with pytest.raises(ValueError, match="larger stack"):
        model.add_kernels("linear", X, LABELS)
