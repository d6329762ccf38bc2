"""Gates made of scores, and the selection of the best scores against all there are."""

from itertools import combinations

import numpy as np
import pytest

from nearlinear.gates.scores import Clipped, Repeated, SoftmaxOf, UnitLength, top_and_bottom

N_SCORES = 5
DIRECTIONS = np.random.default_rng(3).standard_normal((4, N_SCORES))


def scores(X):
    """Linear scores, in the precision of the rows."""
    return X @ DIRECTIONS.astype(X.dtype)


@pytest.fixture
def X(rng):
    return rng.standard_normal((20, 4))


@pytest.mark.parametrize("sharpness", [0.3, 1.0, 4.0])
def test_a_softmax_of_scores_follows_its_definition(X, sharpness):
    parts = np.exp(sharpness * scores(X))
    expected = parts / parts.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(SoftmaxOf(scores, sharpness)(X), expected, rtol=1e-12)


def test_a_softmax_without_sharpness_is_uniform(X):
    np.testing.assert_array_equal(SoftmaxOf(scores, 0.0)(X), np.full((20, N_SCORES), 0.2))


def test_a_sharp_softmax_chooses_the_best_score_without_overflow(X):
    found = SoftmaxOf(scores, 1e9)(X)
    np.testing.assert_array_equal(found, np.eye(N_SCORES)[scores(X).argmax(axis=1)])


@pytest.mark.parametrize("gate", [SoftmaxOf(scores, 2.0), Clipped(scores)], ids=["soft", "clipped"])
def test_gates_of_scores_in_single_precision_are_in_double(X, gate):
    found = gate(X.astype(np.float32))
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, gate(X), rtol=1e-4, atol=1e-6)


def test_a_softmax_of_scores_in_single_precision_sums_to_one_in_double(X):
    found = SoftmaxOf(scores, 2.0)(X.astype(np.float32))
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-14)


@pytest.mark.parametrize("floor", [1e-3, 0.2])
def test_clipped_scores_lie_between_the_floor_and_one(X, floor):
    found, plain = Clipped(scores, floor)(X), scores(X)
    inside = (plain > floor) & (plain < 1.0)
    assert 0 < inside.sum() < inside.size
    np.testing.assert_array_equal(found[inside], plain[inside])
    np.testing.assert_array_equal(found[plain <= floor], floor)
    np.testing.assert_array_equal(found[plain >= 1.0], 1.0)


@pytest.mark.parametrize("gate", [Clipped(scores), SoftmaxOf(scores)], ids=["clipped", "soft"])
def test_a_gate_of_unit_length_has_squares_that_sum_to_one(X, gate):
    found = UnitLength(gate)(X)
    np.testing.assert_allclose((found**2).sum(axis=1), 1.0, rtol=1e-14)
    shares = found / gate(X)
    np.testing.assert_allclose(shares, np.broadcast_to(shares[:, :1], shares.shape), rtol=1e-12)


def test_a_repeated_gate_has_every_value_as_often_as_asked(X):
    gate = SoftmaxOf(scores)
    found = Repeated(gate, 3)(X)
    assert found.shape == (20, 3 * N_SCORES)
    for q in range(3 * N_SCORES):
        np.testing.assert_array_equal(found[:, q], gate(X)[:, q // 3])


def test_a_gate_repeated_once_is_the_same(X):
    gate = SoftmaxOf(scores)
    np.testing.assert_array_equal(Repeated(gate, 1)(X), gate(X))


def sums_of_all_subsets(row, count):
    return [row[list(subset)].sum() for subset in combinations(range(len(row)), count)]


@pytest.mark.parametrize("count", range(1, N_SCORES + 1))
@pytest.mark.parametrize("ties", [False, True])
def test_the_best_and_the_worst_sum_of_all_subsets_are_found(rng, count, ties):
    values = rng.standard_normal((30, N_SCORES))
    if ties:
        values = np.round(values)  # a handful of whole numbers
    gates = top_and_bottom(values, count)
    for row, gate in zip(values, gates):
        sums = sums_of_all_subsets(row, count)
        assert gate @ row == pytest.approx(0.5 * (max(sums) + min(sums)), abs=1e-12)


@pytest.mark.parametrize("count", range(1, N_SCORES + 1))
@pytest.mark.parametrize("ties", [False, True])
def test_as_many_scores_are_marked_as_asked_for(rng, count, ties):
    values = np.zeros((10, N_SCORES)) if ties else rng.standard_normal((10, N_SCORES))
    gates = top_and_bottom(values, count)
    np.testing.assert_array_equal(gates.sum(axis=1), count)
    assert np.all(np.isin(gates, [0.0, 0.5, 1.0]))


def test_marks_stand_at_the_largest_and_the_smallest():
    values = np.array([[3.0, -1.0, 7.0, 0.0, 5.0]])
    np.testing.assert_array_equal(top_and_bottom(values, 1), [[0.0, 0.5, 0.5, 0.0, 0.0]])
    np.testing.assert_array_equal(top_and_bottom(values, 2), [[0.0, 0.5, 0.5, 0.5, 0.5]])
    np.testing.assert_array_equal(top_and_bottom(values, 3), [[1.0, 0.5, 0.5, 0.5, 0.5]])


def test_all_scores_selected_are_ones(rng):
    gates = top_and_bottom(rng.standard_normal((10, N_SCORES)), N_SCORES)
    np.testing.assert_array_equal(gates, np.ones((10, N_SCORES)))


def test_turned_scores_have_the_same_marks(rng):
    # which label is called positive must not matter
    values = rng.standard_normal((30, N_SCORES))
    for count in range(1, N_SCORES + 1):
        np.testing.assert_array_equal(top_and_bottom(-values, count), top_and_bottom(values, count))


def test_one_score_alone_is_always_selected(rng):
    np.testing.assert_array_equal(top_and_bottom(rng.standard_normal((4, 1)), 1), np.ones((4, 1)))
