"""Rows of a kernel matrix, in memory and on demand, against the full matrix."""

import tracemalloc

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from nearlinear.kernels import Gaussian, Linear
from nearlinear.kernels.rows import ComputedRows, GramRows, _subtract_rows
from reference import kernel_svm as reference

N_ROWS = 60
EVERYONE = np.arange(N_ROWS)


@pytest.fixture
def X():
    return np.random.default_rng(0).standard_normal((N_ROWS, 3)).astype(np.float32)


def computed_rows(X, *, n_kept, **options):
    """A Gaussian kernel with room for ``n_kept`` whole rows."""
    return ComputedRows(Gaussian(0.5), X, 4 * X.shape[0] * n_kept, **options)


def exact(X):
    return reference.gram("gaussian", X.astype(np.float64))


def assert_subtracts(source, gram, rows, columns=EVERYONE):
    """What ``subtract`` leaves at ``columns`` is what the full matrix says."""
    rows = np.asarray(rows)
    rng = np.random.default_rng(len(rows))
    change, slack = rng.standard_normal(len(rows)), rng.standard_normal(len(columns))
    expected = slack - change @ gram[np.ix_(rows, columns)]
    source.subtract(rows, change, slack)
    np.testing.assert_allclose(slack, expected, atol=1e-5)  # single precision


@pytest.mark.passes
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_rows", [0, 1, 3, 4, 5, 11])
def test_rows_are_subtracted_in_every_number(dtype, n_rows):
    rng = np.random.default_rng(1)
    matrix = rng.standard_normal((12, 4500)).astype(dtype)  # more columns than two stretches
    rows, change = rng.permutation(12)[:n_rows], rng.standard_normal(n_rows)
    slack = rng.standard_normal(4500)
    expected = slack - change @ matrix[rows].astype(np.float64)
    _subtract_rows(matrix, rows, change, slack)
    np.testing.assert_allclose(slack, expected, atol=1e-13)


@pytest.mark.parametrize("rows", [[7], [5, 2, 40], EVERYONE, EVERYONE[::-1]])
def test_a_block_of_a_matrix_is_in_the_order_of_its_rows(X, rows):
    gram = exact(X)
    block = GramRows(gram).block(np.asarray(rows))
    np.testing.assert_array_equal(block, gram[np.ix_(rows, rows)])


def test_a_matrix_in_memory_is_not_copied(X):
    gram = exact(X)
    assert GramRows(gram).block(EVERYONE) is gram


def test_a_matrix_in_memory_serves_its_rows(X):
    gram = exact(X)
    assert_subtracts(GramRows(gram), gram, [3, 50, 4, 4 + N_ROWS // 2, 9])


@pytest.mark.parametrize("rows", [[7], [5, 2, 40], EVERYONE, EVERYONE[::-1]])
def test_a_computed_block_is_that_of_the_matrix(X, rows):
    block = computed_rows(X, n_kept=5).block(np.asarray(rows))
    np.testing.assert_allclose(block, exact(X)[np.ix_(rows, rows)], atol=1e-6)
    assert block.dtype == np.float32


@pytest.mark.parametrize("n_kept", [0, 1, 7, 60])
def test_computed_rows_are_those_of_the_matrix(X, n_kept):
    source, gram = computed_rows(X, n_kept=n_kept), exact(X)
    rng = np.random.default_rng(2)
    for n_rows in (1, 5, 12, 60, 3, 60):
        assert_subtracts(source, gram, rng.permutation(N_ROWS)[:n_rows])


def test_blocks_larger_than_a_tile_are_whole():
    X = np.random.default_rng(3).standard_normal((600, 2)).astype(np.float32)
    gram, everyone = exact(X), np.arange(600)
    source = computed_rows(X, n_kept=300)
    np.testing.assert_allclose(source.block(everyone), gram, atol=1e-6)
    slack = np.zeros(600)
    source.subtract(everyone, np.ones(600), slack)  # 300 kept, 300 used and forgotten
    np.testing.assert_allclose(slack, -gram.sum(axis=0), rtol=1e-5)


def test_rows_that_are_kept_are_not_computed_again(X):
    source, gram = computed_rows(X, n_kept=10), exact(X)
    assert_subtracts(source, gram, [4, 8, 15])
    assert_subtracts(source, gram, [15, 16, 4])
    assert source.n_computed == 4


def test_the_row_that_waited_longest_makes_room(X):
    source, gram = computed_rows(X, n_kept=3), exact(X)
    for rows in ([0, 1], [2], [0, 1], [3]):  # 3 takes the place of 2
        assert_subtracts(source, gram, rows)
    assert source.n_computed == 4
    assert_subtracts(source, gram, [0, 1, 3])
    assert source.n_computed == 4
    assert_subtracts(source, gram, [2])
    assert source.n_computed == 5


def test_rows_beyond_the_room_are_used_and_forgotten(X):
    source, gram = computed_rows(X, n_kept=3), exact(X)
    assert_subtracts(source, gram, [0, 1, 2, 3, 4, 5, 6])
    assert source.n_computed == 7
    assert_subtracts(source, gram, [0, 1, 2])
    assert source.n_computed == 7
    # those in use stay where they are while others pass
    assert_subtracts(source, gram, [10, 0, 11, 1, 12, 2])
    assert source.n_computed == 10


def test_fewer_columns_keep_the_rows_and_leave_room_for_more(X):
    source, gram = computed_rows(X, n_kept=6, whole_set=0), exact(X)
    assert_subtracts(source, gram, [0, 1, 2, 3, 4, 5])
    half, quarter = EVERYONE[::2], EVERYONE[::4]
    source.restrict(half)
    assert_subtracts(source, gram, [5, 3, 1], half)
    assert source.n_computed == 6
    assert_subtracts(source, gram, [10, 11, 12, 13, 14, 15], half)
    assert_subtracts(source, gram, [0, 2, 4, 10, 12], half)
    assert source.n_computed == 12  # twelve half rows fit
    source.restrict(quarter)
    assert_subtracts(source, gram, [15, 0, 10], quarter)
    assert source.n_computed == 12


def test_all_columns_are_served_again_after_a_restriction(X):
    source, gram = computed_rows(X, n_kept=6, whole_set=0), exact(X)
    source.restrict(EVERYONE[10:30])
    assert_subtracts(source, gram, [0, 1], EVERYONE[10:30])
    source.restrict(EVERYONE)
    assert_subtracts(source, gram, [0, 1, 20])
    assert source.n_computed == 5


def test_no_columns_are_served_without_complaint(X):
    source = computed_rows(X, n_kept=6, whole_set=0)
    source.restrict(EVERYONE[:0])
    assert_subtracts(source, exact(X), [0, 1], EVERYONE[:0])


def test_rows_left_out_catch_up_and_the_others_stay(X):
    source, gram = computed_rows(X, n_kept=6, whole_set=0), exact(X)
    others, rows = EVERYONE[::3], np.array([7, 9, 33])
    change, slack = np.array([1.0, -0.5, 0.25]), np.random.default_rng(4).standard_normal(N_ROWS)
    before = slack.copy()
    source.subtract_at(others, rows, change, slack)
    expected = before[others] - change @ gram[np.ix_(rows, others)]
    np.testing.assert_allclose(slack[others], expected, atol=1e-6)
    kept = np.setdiff1d(EVERYONE, others)
    np.testing.assert_array_equal(slack[kept], before[kept])
    assert source.n_computed == 3


@pytest.mark.parametrize(
    ("others", "rows"), [(EVERYONE[:0], EVERYONE[:2]), (EVERYONE[:2], EVERYONE[:0])]
)
def test_nobody_catches_up_with_nothing(X, others, rows):
    source, slack = computed_rows(X, n_kept=6), np.ones(N_ROWS)
    source.subtract_at(others, rows, np.ones(len(rows)), slack)
    np.testing.assert_array_equal(slack, np.ones(N_ROWS))
    assert source.n_computed == 0


@pytest.mark.parametrize("seed", range(4))
def test_any_sequence_of_requests_is_answered_from_the_matrix(X, seed):
    rng = np.random.default_rng(seed)
    source, gram = computed_rows(X, n_kept=8, whole_set=0), exact(X)
    columns = EVERYONE
    for _ in range(60):
        if rng.random() < 0.15:
            columns = EVERYONE
            source.restrict(columns)
        elif rng.random() < 0.2:
            columns = columns[rng.random(len(columns)) < 0.8]
            source.restrict(columns)
        assert_subtracts(source, gram, rng.permutation(N_ROWS)[: rng.integers(0, 25)], columns)


def test_sparse_rows_are_as_good_as_dense_ones(X):
    X[np.abs(X) < 0.7] = 0.0
    source, gram = computed_rows(csr_matrix(X), n_kept=5), exact(X)
    np.testing.assert_allclose(source.block(EVERYONE[::7]), gram[::7, ::7], atol=1e-6)
    assert_subtracts(source, gram, [3, 1, 4, 15, 9, 2, 6])
    source.restrict(EVERYONE[::2])
    assert_subtracts(source, gram, [3, 1, 4, 15, 9, 2, 6], EVERYONE[::2])


def test_landmarks_are_the_second_argument_of_the_kernel(X):
    source = ComputedRows(Linear(), X, 5 * 4 * N_ROWS, landmarks=3.0 * X)
    gram = 3.0 * reference.gram("linear", X.astype(np.float64))
    np.testing.assert_allclose(source.block(EVERYONE[:9]), gram[:9, :9], atol=1e-5)
    assert_subtracts(source, gram, [3, 1, 4, 15, 9, 2, 6])


def test_rows_of_double_precision_are_served_in_single(X):
    double = X.astype(np.float64)
    source = computed_rows(double, n_kept=5)
    assert source.X.dtype == np.float32
    assert_subtracts(source, exact(X), [1, 2, 3])


@pytest.mark.parametrize(("max_bytes", "expected"), [(4 * 20**2, 20), (10**9, 50), (0, 0)])
def test_a_whole_matrix_is_solved_at_once_only_if_it_fits(X, max_bytes, expected):
    assert ComputedRows(Gaussian(0.5), X, max_bytes, whole_set=50).whole_set == expected


class TestMemory:
    """Eight megabytes for a matrix of 36; tiles, copies of the rows and indices are 2 at most."""

    n_rows, budget, extra = 3000, 8_000_000, 2_000_000
    whole_set = 700  # a quarter of the budget

    @pytest.fixture
    def source(self):
        rng = np.random.default_rng(5)
        X = rng.standard_normal((self.n_rows, 3)).astype(np.float32)
        computed_rows(X[:50], n_kept=3).subtract(np.arange(9), np.ones(9), np.zeros(50))  # loads
        tracemalloc.start()
        yield ComputedRows(Gaussian(0.5), X, self.budget, whole_set=self.whole_set)
        tracemalloc.stop()

    def ask(self, source, rows, n_columns):
        slack = np.zeros(n_columns)
        for start in range(0, len(rows), 100):
            part = rows[start : start + 100]
            source.subtract(part, np.ones(len(part)), slack)

    def assert_within_budget(self):
        _, peak = tracemalloc.get_traced_memory()
        assert peak < self.budget + self.extra

    def test_rows_on_demand_stay_within_the_budget(self, source):
        everyone = np.arange(self.n_rows)
        self.ask(source, everyone, self.n_rows)
        source.subtract(everyone, np.ones(self.n_rows), np.zeros(self.n_rows))
        source.subtract_at(everyone[:2000], everyone[2000:], np.ones(1000), np.zeros(self.n_rows))
        assert source.n_computed > self.n_rows
        self.assert_within_budget()

    def test_a_change_of_columns_stays_within_the_budget(self, source):
        everyone = np.arange(self.n_rows)
        for columns in (everyone, everyone[::2], everyone[::4], everyone):
            source.restrict(columns)
            self.ask(source, everyone, len(columns))
        self.assert_within_budget()

    def test_a_small_matrix_as_a_whole_stays_within_the_budget(self, source):
        everyone = np.arange(self.n_rows)
        self.ask(source, everyone, self.n_rows)
        source.restrict(everyone[:700])
        source.block(everyone[:700])
        self.assert_within_budget()
