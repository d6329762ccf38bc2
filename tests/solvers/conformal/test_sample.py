"""A random sample of a stream: who stays, and what they weigh."""

import numpy as np
import pytest

from nearlinear.solvers.conformal.sample import StreamSample


class Store:
    """Ids, sides and weights of what a sample keeps."""

    def __init__(self, size, n_sides=2, seed=0):
        self.sample = StreamSample(size, n_sides, np.random.RandomState(seed))
        self.ids = np.zeros(0, dtype=np.int64)
        self.sides, self.sent = np.zeros(0, dtype=np.intp), np.zeros(0)

    def send(self, ids, sides, weight):
        self.sample.count(sides, weight)
        new = self.sample.admits(ids, sides) & ~np.isin(ids, self.ids)
        self.ids = np.concatenate([self.ids, ids[new]])
        self.sides = np.concatenate([self.sides, sides[new]])
        self.sent = np.concatenate([self.sent, weight[new]])
        kept = self.sample.choose(self.ids, self.sides)
        self.ids, self.sides, self.sent = self.ids[kept], self.sides[kept], self.sent[kept]

    @property
    def weight(self):
        return self.sample.weights(self.sent, self.sides)


def stream(rare=0.5, n_rows=1000):
    """Ids, sides and weights of rows, a share of them on the second side."""
    rng = np.random.default_rng(0)
    sides = (rng.permutation(n_rows) < rare * n_rows).astype(np.intp)
    return np.arange(n_rows), sides, rng.uniform(0.5, 2.0, n_rows)


def fill(store, ids, sides, weight, size=50):
    for start in range(0, len(ids), size):
        part = slice(start, start + size)
        store.send(ids[part], sides[part], weight[part])
    return store


def test_rows_have_the_same_chance_whenever_they_come():
    ids, sides, weight = stream()
    times = np.zeros(1000)
    for seed in range(60):
        stored = fill(Store(100, seed=seed), ids, sides, weight).ids
        assert len(stored) == 100
        times[stored] += 1
    parts = times.reshape(10, 100).mean(axis=1)  # 6 expected, known to about 0.25
    assert np.abs(parts - 6.0).max() < 1.0


def test_another_pass_changes_nothing():
    rows = stream()
    store = fill(Store(100), *rows)
    before, weight = store.ids, store.weight
    fill(store, *rows)
    np.testing.assert_array_equal(store.ids, before)
    np.testing.assert_allclose(store.weight, weight)


@pytest.mark.parametrize("rare", [0.002, 0.01, 0.1, 0.5])
@pytest.mark.parametrize("size", [20, 100])
def test_no_side_is_lost_and_each_has_its_share(rare, size):
    ids, sides, weight = stream(rare)
    store = fill(Store(size), ids, sides, weight)
    counts = np.bincount(store.sides, minlength=2)
    assert counts.sum() == size
    assert counts[1] >= min(2, size * rare)
    shares = np.bincount(store.sides, store.weight) / store.weight.sum()
    assert shares[1] == pytest.approx(weight[sides == 1].sum() / weight.sum())


@pytest.mark.parametrize("factor", [0.1, 1.0, 7.0])
def test_stored_rows_weigh_what_rows_of_the_stream_do(factor):
    ids, sides, weight = stream()
    store = fill(Store(1000), ids, sides, factor * weight)
    np.testing.assert_array_equal(store.weight, factor * weight)  # nothing was left out
    store = fill(Store(100), ids, sides, factor * weight)
    assert store.weight.mean() == pytest.approx(factor * weight.mean(), rel=0.15)


def test_copies_do_not_make_a_sample_weigh_more_than_its_size():
    ids, sides, _ = stream(n_rows=90)
    store = fill(Store(100), ids, sides, np.ones(90))
    for n_copies in (1.0, 1.1, 5.0, 50.0):
        store.sent = np.full(90, n_copies)
        store.sample.n_rows = n_copies * np.bincount(sides)
        store.sample.total = n_copies * np.bincount(sides)
        assert store.weight.sum() == pytest.approx(min(90 * n_copies, 100.0))
