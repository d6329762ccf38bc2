"""Locally linear kernels against their features, and the kernels they become in the limit."""

import pickle

import numpy as np
import pytest
from grids import in_one_test
from scipy.sparse import csr_matrix

from nearlinear.kernels import Conformal, WeightedSum
from nearlinear.kernels.conformal import PROFILES
from nearlinear.kernels.pairs import Pairs
from reference import conformal as reference

ANCHOR = (0.2, -0.5, 0.0, 1.0)
each_profile = pytest.mark.parametrize("profile", PROFILES)
each_reach = pytest.mark.parametrize("per_feature", [False, True], ids=["whole", "per feature"])
each_dtype = pytest.mark.parametrize("dtype", [np.float32, np.float64])
each_form = pytest.mark.parametrize("as_rows", [np.asarray, csr_matrix], ids=["dense", "sparse"])


def make(profile="gaussian", per_feature=False, gamma=0.4, anchor=ANCHOR):
    return Conformal(anchor, gamma, profile, per_feature)


@each_profile
@each_reach
@each_dtype
@each_form
def test_features_are_those_of_the_formula(X, profile, per_feature, dtype, as_rows):
    found = make(profile, per_feature).features(as_rows(X.astype(dtype)))
    exact = reference.features(X, ANCHOR, 0.4, profile, per_feature)
    np.testing.assert_allclose(found, exact, atol=20 * np.finfo(dtype).eps)
    assert found.dtype == dtype
    assert np.abs(exact).max() > 0.1


@each_profile
@each_reach
@each_dtype
@each_form
def test_a_block_is_the_products_of_the_features(X, Z, profile, per_feature, dtype, as_rows):
    left, right = as_rows(X.astype(dtype)), as_rows(Z.astype(dtype))
    block = make(profile, per_feature)(left, right)
    setting = ANCHOR, 0.4, profile, per_feature
    exact = reference.features(X, *setting) @ reference.features(Z, *setting).T
    np.testing.assert_allclose(block, exact, atol=20 * np.finfo(dtype).eps)
    assert block.shape == (30, 17)
    assert block.dtype == dtype


@each_profile
@each_reach
@each_form
def test_a_gram_matrix_is_the_products_of_the_features(X, profile, per_feature, as_rows):
    kernel = make(profile, per_feature)
    features = reference.features(X, ANCHOR, 0.4, profile, per_feature)
    np.testing.assert_allclose(kernel(as_rows(X)), features @ features.T, atol=1e-14)
    np.testing.assert_allclose(kernel(as_rows(X), as_rows(X)), kernel(X), atol=1e-14)


@each_profile
@each_reach
@each_dtype
@each_form
def test_the_diagonal_is_that_of_the_gram_matrix(X, profile, per_feature, dtype, as_rows):
    kernel, rows = make(profile, per_feature), as_rows(X.astype(dtype))
    diagonal = kernel.diagonal(rows)
    np.testing.assert_allclose(diagonal, np.diag(kernel(rows)), rtol=20 * np.finfo(dtype).eps)
    assert diagonal.shape == (30,)
    assert diagonal.dtype == dtype


@each_profile
@each_reach
def test_a_gram_matrix_is_positive_semi_definite_of_the_rank_of_a_row(X, profile, per_feature):
    gram = make(profile, per_feature)(X)
    values = np.linalg.eigvalsh(gram)
    assert values[0] > -1e-13 * values[-1]
    np.testing.assert_array_equal(gram, gram.T)
    assert np.linalg.matrix_rank(gram) == 4


@each_profile
def test_without_gamma_the_kernel_is_the_shifted_linear_one(X, Z, profile):
    center = np.array(ANCHOR)
    linear = (X - center) @ (Z - center).T
    np.testing.assert_allclose(make(profile, gamma=0.0)(X, Z), linear, atol=1e-14)
    np.testing.assert_allclose(make(profile, gamma=1e-9)(X, Z), linear, atol=1e-6)


@each_profile
def test_on_one_feature_both_maps_are_the_same(X, Z, profile):
    left, right = X[:, :1], Z[:, :1]
    whole, single = (make(profile, way, anchor=(0.3,))(left, right) for way in (False, True))
    np.testing.assert_allclose(whole, single, atol=1e-15)
    assert np.abs(whole).max() > 0.01


@each_profile
def test_on_several_features_a_map_of_each_is_the_sum_over_features(X, Z, profile):
    parts = [
        make(profile, anchor=(c,))(X[:, [d]], Z[:, [d]]) for d, c in enumerate(ANCHOR)
    ]  # fmt: skip
    np.testing.assert_allclose(make(profile, True)(X, Z), sum(parts), atol=1e-14)


@each_profile
@each_reach
def test_a_row_at_the_anchor_has_no_feature(X, profile, per_feature):
    X[3] = ANCHOR
    kernel = make(profile, per_feature)
    np.testing.assert_array_equal(kernel.features(X)[3], np.zeros(4))
    np.testing.assert_array_equal(kernel(X)[3], np.zeros(30))


@each_reach
@pytest.mark.parametrize("profile", ["linear", "square"])
def test_rows_beyond_a_bounded_profile_have_no_feature(X, profile, per_feature):
    far = X + 100.0
    np.testing.assert_array_equal(make(profile, per_feature).features(far), np.zeros((30, 4)))


@each_profile
@each_reach
def test_float32_rows_far_from_the_origin_are_accurate(rng, profile, per_feature):
    X = (rng.standard_normal((40, 4)) + 1e4).astype(np.float32)
    kernel = make(profile, per_feature, anchor=tuple(X[5]))
    features = reference.features(X, X[5], 0.4, profile, per_feature)
    np.testing.assert_allclose(kernel(X), features @ features.T, atol=1e-5)


@each_profile
@each_reach
def test_rows_of_whole_numbers_have_the_kernel_of_the_same_real_ones(profile, per_feature):
    X = np.arange(12).reshape(3, 4) % 5
    kernel = make(profile, per_feature, gamma=0.1)
    exact = reference.features(X, ANCHOR, 0.1, profile, per_feature)
    np.testing.assert_allclose(kernel(X), exact @ exact.T, atol=1e-13)
    np.testing.assert_allclose(kernel.diagonal(X), (exact**2).sum(axis=1), atol=1e-13)
    np.testing.assert_allclose(kernel.features(X), exact, atol=1e-13)


def test_what_kernels_share_is_left_alone(X, Z):
    shared = Pairs(X, Z)
    before = X.copy(), Z.copy()
    block = make().from_pairs(shared)
    block *= 7.0
    np.testing.assert_array_equal(shared.X, before[0])
    np.testing.assert_array_equal(shared.Z, before[1])


def test_kernels_can_be_mixed_with_others(X, Z):
    parts = make(), make("linear", True)
    mixed = WeightedSum(parts, (0.3, 0.7))
    np.testing.assert_allclose(mixed(X, Z), 0.3 * parts[0](X, Z) + 0.7 * parts[1](X, Z))


def test_nothing_is_taken_from_the_rows(X):
    assert make().for_rows(X) == make()


def test_anchors_may_be_given_as_any_sequence(X):
    by_tuple = make()
    for anchor in (list(ANCHOR), np.array(ANCHOR)):
        kernel = make(anchor=anchor)
        assert kernel == by_tuple
        assert hash(kernel) == hash(by_tuple)
        assert type(kernel.anchor) is tuple
    whole = Conformal((1, 2, 3, 4), 1)
    np.testing.assert_allclose(whole(X), Conformal((1.0, 2.0, 3.0, 4.0), 1.0)(X))


def test_a_kernel_survives_storage(X):
    kernel = make("square", True)
    assert pickle.loads(pickle.dumps(kernel)) == kernel


@in_one_test("gamma", [-1.0, -1e-30, np.nan, np.inf])
def test_a_gamma_that_is_not_finite_or_below_zero_is_refused(gamma):
    with pytest.raises(ValueError, match=f"Conformal needs gamma of 0 or more, not {gamma!r}"):
        Conformal(ANCHOR, gamma)


@in_one_test("value", [np.nan, np.inf, -np.inf])
def test_an_anchor_that_is_not_finite_is_refused(value):
    with pytest.raises(ValueError, match="Conformal needs"):
        Conformal((0.0, value), 1.0)


@in_one_test("profile", ["round", "Gaussian", "", None])
def test_an_unknown_profile_is_refused_with_those_known(profile):
    names = "'exponential', 'gaussian', 'linear', 'square'"
    with pytest.raises(ValueError, match=rf"one of the profiles \[{names}\], not {profile!r}"):
        Conformal(ANCHOR, 1.0, profile)


@each_form
@in_one_test("anchor", [(0.0,), (0.0,) * 3, (0.0,) * 5])
def test_an_anchor_of_another_space_is_refused(X, as_rows, anchor):
    kernel, rows = make(anchor=anchor), as_rows(X)
    sentence = f"The anchor has {len(anchor)} features and X has 4"
    for use in (kernel, kernel.diagonal, kernel.features):
        with pytest.raises(ValueError, match=sentence):
            use(rows)
