"""The compiled predictor, its plain form and its arrays."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from nearlinear.kernels.conformal import PROFILES
from nearlinear.predictors import conformal_linear
from nearlinear.predictors.conformal_linear import ConformalLinear
from reference import conformal_linear as reference

pytestmark = pytest.mark.passes
each_profile = pytest.mark.parametrize("profile", PROFILES)
each_bounded = pytest.mark.parametrize("profile", ["linear", "square"])
each_reach = pytest.mark.parametrize("per_feature", [False, True], ids=["whole", "per feature"])
each_type = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def make(profile="gaussian", per_feature=False, dtype=np.float64, n_features=5, n_outputs=3):
    """Six kernels of one term, of several and of none, that reach some rows and miss others."""
    rng = np.random.default_rng(0)
    terms = [
        (k, o)
        for k in range(6)
        for o in range(n_outputs)
        if k != 2 and (k % 2 == 1 or o == k % n_outputs)
    ]
    kernels, outputs = np.array(terms, dtype=np.intp).reshape(-1, 2).T
    typical = 2.0 * (1 if per_feature else n_features)
    gammas = PROFILES[profile].gamma(rng.uniform(0.5, 4.0, 6), typical)
    return ConformalLinear(
        rng.standard_normal((6, n_features)).astype(dtype),
        gammas.astype(dtype),
        rng.standard_normal((len(terms), n_features)).astype(dtype),
        kernels,
        outputs,
        rng.standard_normal(n_outputs).astype(dtype),
        profile,
        per_feature,
    )


def make_rows(n_rows=37, n_features=5, dtype=np.float64):
    return np.random.default_rng(1).standard_normal((n_rows, n_features)).astype(dtype)


def assert_follows_the_formula(predictor, X, scores):
    """To a few roundings of |b| + Σ|(x − c) w|: where h is not tiny, u is of size one."""
    sizes = np.abs(reference.products(X, predictor))
    allowed = reference.add_up(sizes, predictor, np.abs(predictor.biases))
    errors = np.abs(scores - reference.scores(X, predictor))
    assert (errors <= 20 * np.finfo(X.dtype).eps * allowed).all()


@each_profile
@each_reach
@each_type
@pytest.mark.parametrize("n_features", [1, 4, 5])
@pytest.mark.parametrize("n_outputs", [1, 3], ids=["one output", "three outputs"])
def test_scores_follow_the_formula(profile, per_feature, dtype, n_features, n_outputs):
    predictor = make(profile, per_feature, dtype, n_features, n_outputs)
    X = make_rows(37, n_features, dtype)
    scores = predictor(X)
    assert_follows_the_formula(predictor, X, scores)
    assert scores.dtype == dtype
    assert scores.shape == (37, n_outputs)


@each_profile
@each_reach
@each_type
def test_plain_scores_follow_the_formula_too(profile, per_feature, dtype):
    predictor, X = make(profile, per_feature, dtype), make_rows(dtype=dtype)
    scores = predictor.plain(X)
    assert_follows_the_formula(predictor, X, scores)
    assert scores.dtype == dtype


@each_profile
@each_reach
def test_compiled_scores_are_the_plain_ones_to_the_size_of_their_terms(profile, per_feature):
    predictor, X = make(profile, per_feature), make_rows()
    sizes = np.abs(reference.parts(X, predictor))
    allowed = 1e-12 * reference.add_up(sizes, predictor, np.abs(predictor.biases))
    assert (np.abs(predictor(X) - predictor.plain(X)) <= allowed).all()


# A vector has 8 numbers of float64, and 13 vectors are taken side by side.
@each_reach
@pytest.mark.parametrize("n_rows", [1, 7, 8, 9, 103, 104, 105, 210])
def test_any_number_of_rows_is_scored(per_feature, n_rows):
    predictor, X = make(per_feature=per_feature), make_rows(n_rows)
    assert_follows_the_formula(predictor, X, predictor(X))
    expected = reference.support(X, predictor)
    np.testing.assert_allclose(predictor.support_score(X), expected, rtol=1e-13)


@each_reach
def test_no_rows_have_no_scores(per_feature):
    predictor, X = make(per_feature=per_feature), make_rows(0)
    assert predictor(X).shape == (0, 3)
    assert predictor.support_score(X).shape == (0,)


@each_reach
def test_the_number_of_threads_does_not_change_a_bit(per_feature, monkeypatch):
    monkeypatch.setattr(conformal_linear, "_BLOCK_ROWS", 16)
    predictor, X = make(per_feature=per_feature), make_rows(60)
    assert_follows_the_formula(predictor, X, predictor(X))
    np.testing.assert_array_equal(predictor(X, n_jobs=3), predictor(X))
    np.testing.assert_array_equal(predictor.support_score(X, n_jobs=3), predictor.support_score(X))


@each_reach
@each_type
def test_without_kernels_biases_are_left(per_feature, dtype):
    none = np.zeros(0, dtype=np.intp)
    predictor = replace(
        make("square", per_feature, dtype),
        anchors=np.zeros((0, 5), dtype=dtype),
        gammas=np.zeros(0, dtype=dtype),
        weights=np.zeros((0, 5), dtype=dtype),
        kernels=none,
        outputs=none,
    )
    X = make_rows(9, dtype=dtype)
    for scores in (predictor(X), predictor.plain(X)):
        np.testing.assert_array_equal(scores, np.tile(predictor.biases, (9, 1)))
    assert predictor.support_score(X).tolist() == [0.0] * 9
    assert predictor.cost.multiply_adds == 0


@each_profile
@each_reach
def test_scores_far_from_the_origin_are_as_exact(profile, per_feature):
    near = make(profile, per_feature)
    far = replace(near, anchors=near.anchors + 1e6)
    X = make_rows() + 1e6
    assert_follows_the_formula(far, X, far(X))  # squares of the rows would be wrong by 1e-4


def make_exponentials(u, dtype):
    """As many outputs exp(−u) at the row [1]: a kernel at 0 for each."""
    one = np.ones((len(u), 1), dtype=dtype)
    each, zeros = np.arange(len(u)), np.zeros(len(u), dtype=dtype)
    return ConformalLinear(0.0 * one, u.astype(dtype), one, each, each, zeros, "gaussian", False)


@pytest.mark.parametrize(
    ("dtype", "largest", "tolerance"), [(np.float32, 87.0, 2e-7), (np.float64, 708.0, 1e-15)]
)
def test_exponentials_are_exact_down_to_the_smallest_numbers(dtype, largest, tolerance):
    u = np.linspace(0.0, largest, 500, endpoint=False).astype(dtype)
    scores = make_exponentials(u, dtype)(np.ones((1, 1), dtype=dtype))
    np.testing.assert_allclose(scores[0], np.exp(-u.astype(np.float64)), rtol=tolerance)


@each_type
def test_exponentials_below_the_smallest_numbers_are_zero(dtype):
    u = np.array([750.0, 1e30, np.finfo(dtype).max])
    scores = make_exponentials(u, dtype)(np.ones((1, 1), dtype=dtype))
    assert scores.tolist() == [[0.0] * 3]


@each_profile
@each_reach
@pytest.mark.parametrize(("dtype", "far"), [(np.float32, 1e30), (np.float64, 1e200)])
def test_rows_whose_squares_overflow_have_the_biases(profile, per_feature, dtype, far):
    predictor = make(profile, per_feature, dtype)
    with np.errstate(over="ignore"):
        scores = predictor(np.full((2, 5), far, dtype=dtype))
    np.testing.assert_array_equal(scores, np.tile(predictor.biases, (2, 1)))


@each_profile
@each_reach
@each_type
def test_support_is_the_largest_mean_share_of_a_kernel(profile, per_feature, dtype):
    predictor, X = make(profile, per_feature, dtype), make_rows(dtype=dtype)
    support = predictor.support_score(X)
    expected = reference.support(X, predictor)
    np.testing.assert_allclose(support, expected, atol=20 * np.finfo(dtype).eps)
    assert support.dtype == dtype


@each_bounded
@each_reach
@each_type
def test_where_no_kernel_reaches_support_is_zero_and_scores_are_biases(profile, per_feature, dtype):
    predictor, X = make(profile, per_feature, dtype), make_rows(dtype=dtype)
    X[::2] += 100.0
    support, scores = predictor.support_score(X), predictor(X)
    assert not support[::2].any()
    assert support[1::2].any()
    np.testing.assert_array_equal(scores[::2], np.tile(predictor.biases, (19, 1)))


@each_reach
def test_support_is_one_at_an_anchor_even_without_terms(per_feature):
    predictor = make("linear", per_feature)
    assert 2 not in predictor.kernels
    assert predictor.support_score(predictor.anchors).tolist() == [1.0] * 6


def test_a_pickle_holds_nothing_but_the_fields():
    predictor, X = make(), make_rows()
    before = len(pickle.dumps(predictor))
    scores = predictor(X)
    assert len(pickle.dumps(predictor)) == before
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(predictor))(X), scores)


# Six kernels of five features; kernels 0 and 4 have one term, 1, 3 and 5 one for each output.
@pytest.mark.parametrize(("n_outputs", "n_terms"), [(1, 5), (3, 11)])
@pytest.mark.parametrize(("per_feature", "n_shares"), [(False, 6), (True, 30)])
def test_cost_counts_distances_profiles_and_terms(n_outputs, n_terms, per_feature, n_shares):
    cost = make(per_feature=per_feature, n_outputs=n_outputs).cost
    assert cost.multiply_adds == 6 * 5 + n_shares + n_terms * 5
    assert cost.times_linear == pytest.approx(cost.multiply_adds / (5 * n_outputs))


@each_type
def test_bytes_are_those_of_the_arrays(dtype):
    numbers = 6 * 5 + 6 + 11 * 5 + 3  # anchors, γ, weights, biases
    indices = 2 * 11 * np.dtype(np.intp).itemsize
    beside = make(dtype=dtype).cost.n_bytes - indices - numbers * np.dtype(dtype).itemsize
    assert 0 <= beside < 100  # the profile's name and whether it is one per feature
