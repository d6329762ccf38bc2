"""Training rows in one canonical form."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from nearlinear.estimators._base import rows
from nearlinear.estimators._base.task import Classification
from reference.training_rows import merge_regression_rows, merge_rows


def as_list(rows):
    """Row, class and weight of all training rows."""
    X = rows.X.toarray() if hasattr(rows.X, "toarray") else rows.X
    return [(*x, label, weight) for x, label, weight in zip(X.tolist(), rows.labels, rows.weight)]


@pytest.fixture
def problem(rng):
    """Forty rows on a grid, so that there are duplicates, also with different labels."""
    X = rng.integers(-1, 2, size=(40, 2)).astype(float)
    return X, rng.integers(3, size=40), rng.integers(1, 4, size=40).astype(float)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("as_rows", [np.asarray, csr_matrix])
def test_equal_rows_of_equal_class_are_one_row_with_the_sum_of_weights(problem, as_rows, dtype):
    X, labels, weight = problem
    rows = merge_rows(as_rows(X.astype(dtype)), labels, weight, 3)
    expected = {}
    for x, label, w in zip(X.tolist(), labels, weight):
        expected[(*x, label)] = expected.get((*x, label), 0.0) + w
    assert sorted(as_list(rows)) == sorted((*key, w) for key, w in expected.items())
    assert rows.X.dtype == dtype


def test_rows_with_several_labels_are_kept_apart_and_counted_once():
    rows = merge_rows(np.array([[1.0], [1.0], [2.0]]), np.array([0, 1, 1]), np.ones(3), 2)
    assert len(rows.X) == 3
    assert rows.n_distinct == 2


@pytest.mark.parametrize("as_rows", [np.asarray, csr_matrix])
def test_the_order_of_the_rows_does_not_matter(problem, rng, as_rows):
    X, labels, weight = problem
    order = rng.permutation(40)
    one = merge_rows(as_rows(X), labels, weight, 3)
    other = merge_rows(as_rows(X[order]), labels[order], weight[order], 3)
    assert as_list(one) == as_list(other)


def test_sparse_and_dense_rows_have_the_same_order(problem):
    X, labels, weight = problem
    dense, sparse = merge_rows(X, labels, weight, 3), merge_rows(csr_matrix(X), labels, weight, 3)
    assert as_list(dense) == as_list(sparse)


@pytest.mark.parametrize("as_rows", [np.asarray, csr_matrix])
def test_rows_of_weight_zero_are_dropped(problem, as_rows):
    X, labels, weight = problem
    weight[::2] = 0.0
    kept = weight > 0
    some = merge_rows(as_rows(X), labels, weight, 3)
    assert as_list(some) == as_list(merge_rows(as_rows(X[kept]), labels[kept], weight[kept], 3))


def test_minus_zero_is_zero():
    rows = merge_rows(np.array([[0.0, 1.0], [-0.0, 1.0]]), np.zeros(2, int), np.ones(2), 2)
    assert len(rows.X) == 1


@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_stored_zeros_of_sparse_rows_do_not_count(zero):
    stored = csr_matrix(([1.0, zero, 1.0], ([0, 0, 1], [0, 1, 0])), shape=(2, 2))
    assert stored.nnz == 3
    rows = merge_rows(stored, np.zeros(2, int), np.ones(2), 2)
    assert rows.X.shape[0] == 1


def test_empty_sparse_rows_are_equal():
    X = csr_matrix(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 0.0]]))
    rows = merge_rows(X, np.zeros(3, int), np.ones(3), 2)
    assert sorted(as_list(rows)) == [(0.0, 0.0, 0, 2.0), (1.0, 0.0, 0, 1.0)]


def test_rows_that_differ_in_one_bit_are_two_rows(rng):
    x = rng.standard_normal(50)
    near = x.copy()
    near[17] = np.nextafter(near[17], 9.0)
    assert len(merge_rows(np.array([x, near]), np.zeros(2, int), np.ones(2), 2).X) == 2


def test_rows_with_their_numbers_exchanged_are_two_rows():
    rows = merge_rows(np.array([[1.0, 2.0], [2.0, 1.0]]), np.zeros(2, int), np.ones(2), 2)
    assert len(rows.X) == 2


def test_two_classes_have_one_column_of_signs():
    np.testing.assert_array_equal(
        Classification(np.arange(2)).targets(np.array([0, 1, 1]), np.float64), [[-1], [1], [1]]
    )


def test_several_classes_have_a_column_each():
    expected = [[-1, -1, 1], [1, -1, -1]]
    np.testing.assert_array_equal(
        Classification(np.arange(3)).targets(np.array([2, 0]), np.float32), expected
    )


@pytest.fixture
def hundred(rng):
    X = rng.standard_normal((100, 2))
    return merge_rows(X, np.arange(100) % 3, np.arange(1.0, 101.0), 3)


def test_parts_of_a_split_are_all_the_rows(hundred):
    train, held_out = hundred.split(0.3, np.random.RandomState(0))
    assert len(held_out.X) == 30
    assert sorted(as_list(train) + as_list(held_out)) == sorted(as_list(hundred))


def test_targets_stay_with_their_rows_in_a_split(hundred):
    for part in hundred.split(0.3, np.random.RandomState(0)):
        np.testing.assert_array_equal(part.targets.argmax(axis=1), part.labels)


@pytest.mark.parametrize("share", [0.0, 0.09])
def test_a_split_holds_out_nothing_rather_than_a_few_rows(hundred, share):
    train, held_out = hundred.split(share, np.random.RandomState(0))
    assert train is hundred
    assert held_out is None


def test_a_split_never_takes_a_class_away_from_training(rng):
    labels = np.r_[0, np.ones(49, int)]
    rows = merge_rows(rng.standard_normal((50, 2)), labels, np.ones(50), 2)
    for seed in range(20):
        train, _ = rows.split(0.5, np.random.RandomState(seed))
        assert set(train.labels) == {0, 1}


# --- regression --------------------------------------------------------------------------------


def values_as_list(rows):
    """Row, value and weight of all training rows of a regression."""
    X = rows.X.toarray() if hasattr(rows.X, "toarray") else rows.X
    return [
        (*x, *y, weight) for x, y, weight in zip(X.tolist(), rows.targets.tolist(), rows.weight)
    ]


@pytest.fixture
def regression(problem):
    """Values of which several rows have the same."""
    X, labels, weight = problem
    return X, np.array([-1.5, 0.25, 7.0])[labels], weight


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("as_rows", [np.asarray, csr_matrix])
def test_equal_rows_of_equal_value_are_one_row_with_the_sum_of_weights(regression, as_rows, dtype):
    X, y, weight = regression
    rows = merge_regression_rows(as_rows(X.astype(dtype)), y, weight)
    expected = {}
    for x, value, w in zip(X.tolist(), y, weight):
        expected[(*x, value)] = expected.get((*x, value), 0.0) + w
    assert sorted(values_as_list(rows)) == sorted((*key, w) for key, w in expected.items())
    assert rows.X.dtype == rows.targets.dtype == dtype


def test_the_order_of_the_rows_of_a_regression_does_not_matter(regression, rng):
    X, y, weight = regression
    order = rng.permutation(40)
    one = merge_regression_rows(X, y, weight)
    other = merge_regression_rows(X[order], y[order], weight[order])
    assert values_as_list(one) == values_as_list(other)


def test_rows_of_a_regression_with_weight_zero_are_dropped(regression):
    X, y, weight = regression
    weight[::2] = 0.0
    kept = weight > 0
    some = merge_regression_rows(X, y, weight)
    assert values_as_list(some) == values_as_list(
        merge_regression_rows(X[kept], y[kept], weight[kept])
    )


def test_a_split_of_a_regression_asks_for_no_class(rng):
    rows = merge_regression_rows(rng.standard_normal((50, 2)), np.arange(50.0), np.ones(50))
    train, held_out = rows.split(0.4, np.random.RandomState(0))
    assert len(held_out.X) == 20
    assert sorted(values_as_list(train) + values_as_list(held_out)) == sorted(values_as_list(rows))


def test_rows_that_were_made_to_have_one_hash_stay_two(rng):
    X = rng.standard_normal((200, 2))
    factors = np.random.RandomState(0).randint(1, np.iinfo(np.int64).max, size=2, dtype=np.int64)
    factors = [int(factor) | 1 for factor in factors]

    def mixed(number):
        bits = int(np.float64(number).view(np.uint64))
        bits = (bits ^ bits >> 29) * 0xBF58476D1CE4E5B9 % 2**64
        return bits ^ bits >> 32

    def unmixed(bits):
        bits = (bits ^ bits >> 32) * pow(0xBF58476D1CE4E5B9, -1, 2**64) % 2**64
        return np.uint64(bits ^ bits >> 29 ^ bits >> 58).view(np.float64)

    total = sum(mixed(number) * factor for number, factor in zip(X[0], factors, strict=True))
    for other in rng.standard_normal(10_000):  # until the first number is an ordinary one
        first = unmixed((total - mixed(other) * factors[1]) * pow(factors[0], -1, 2**64) % 2**64)
        if 1e-3 < abs(first) < 1e3:
            break
    pair = np.array([X[0], [first, other], X[0]])
    assert len(set(rows._hash_rows(pair, 0).tolist())) == 1
    merged = merge_rows(pair, np.zeros(3, dtype=int), np.ones(3), 2)
    assert sorted(merged.weight.tolist()) == [1.0, 2.0]
    assert merged.n_distinct == 2
