"""Mini-batches: every row once an epoch, with its target and its share; noise on rows."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from nearlinear.solvers import minibatch as batches
from nearlinear.solvers.minibatch import Batches, RowNoise


@pytest.fixture
def numbered():
    """Row i is [i, 1], its target i and its weight i + 1."""
    Z = np.column_stack([np.arange(23.0), np.ones(23)])
    return Z, np.arange(23.0)[:, None], np.arange(1.0, 24.0)


def make(data, batch_size=5):
    return Batches(*data, batch_size, np.random.default_rng(0))


@pytest.mark.parametrize("batch_size", [1, 5, 23, 100])
def test_every_row_comes_once_an_epoch(numbered, batch_size):
    rows = np.concatenate([batch[:, 0] for batch, _, _ in make(numbered, batch_size)])
    assert sorted(rows) == list(range(23))


@pytest.mark.parametrize("form", [np.asarray, csr_matrix], ids=["dense", "CSR"])
def test_targets_and_shares_stay_with_their_rows(numbered, form):
    Z, targets, weight = numbered
    for batch, targets_of, share in make((form(Z), targets, weight)):
        numbers = (batch.toarray() if form is csr_matrix else batch)[:, 0]
        np.testing.assert_array_equal(targets_of[:, 0], numbers)
        np.testing.assert_allclose(share, (numbers + 1.0) / len(numbers))


def test_batches_differ_by_at_most_one_row(numbered):
    batches = make(numbered)
    sizes = [len(batch) for batch, _, _ in batches]
    assert len(sizes) == batches.n_batches == 5
    assert max(sizes) == batches.largest == 5
    assert min(sizes) == 4


def test_every_epoch_has_an_order_of_its_own(numbered):
    batches = make(numbered)
    first, second = ([batch[:, 0].tolist() for batch, _, _ in batches] for _ in range(2))
    assert first != second


def test_one_seed_gives_one_order(numbered):
    first, second = ([batch.tolist() for batch, _, _ in make(numbered)] for _ in range(2))
    assert first == second


def test_float32_rows_stay_float32(numbered):
    Z, targets, weight = numbered
    for batch, _, share in make((Z.astype(np.float32), targets, weight)):
        assert batch.dtype == share.dtype == np.float32


def test_noise_has_the_size_of_each_column(rng):
    like = rng.standard_normal((500, 3)) * [1.0, 100.0, 0.0] + [0.0, 0.0, 1.0]
    noise = RowNoise(like, 0.2, rng)(np.zeros((4000, 3)))
    # the deviation of 4000 draws is known to about 1 %
    np.testing.assert_allclose(noise.std(axis=0), 0.2 * like.std(axis=0), rtol=0.05)


def test_the_size_of_noise_is_that_of_all_rows_as_they_are_seen(rng, monkeypatch):
    monkeypatch.setattr(batches, "_BLOCK", 100)
    like = np.vstack([rng.standard_normal((450, 3)), 1e6 + 50.0 * rng.standard_normal((30, 3))])
    directions = rng.standard_normal((3, 2))
    exact = (like @ directions).std(axis=0)
    for rows in (like, csr_matrix(like)):
        noise = RowNoise(rows, 0.2, rng, lambda rows: rows @ directions)(np.zeros((4000, 2)))
        np.testing.assert_allclose(noise.std(axis=0), 0.2 * exact, rtol=0.05)


def test_noise_is_added_anew_each_time(rng):
    Z = rng.standard_normal((5, 3))
    noise = RowNoise(Z, 0.2, rng)
    assert np.all(noise(Z) != noise(Z))


def test_noise_is_not_written_to_the_rows(rng):
    Z = rng.standard_normal((5, 3))
    before = Z.copy()
    RowNoise(Z, 0.2, rng)(Z)
    np.testing.assert_array_equal(Z, before)


@pytest.mark.parametrize(("form", "jitter"), [(np.asarray, 0.0), (csr_matrix, 0.2)])
def test_without_noise_and_for_sparse_rows_the_rows_come_back(numbered, rng, form, jitter):
    Z = form(numbered[0])
    assert RowNoise(Z, jitter, rng)(Z) is Z


def test_noisy_float32_rows_stay_float32(rng):
    Z = rng.standard_normal((5, 3)).astype(np.float32)
    assert RowNoise(Z, 0.2, rng)(Z).dtype == np.float32
