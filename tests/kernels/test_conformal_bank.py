"""Banks of conformal kernels against the kernels themselves, one after the other."""

import numpy as np
import pytest

from nearlinear.kernels import Conformal
from nearlinear.kernels import candidates as conformal_bank
from nearlinear.kernels.candidates import ConformalBank
from nearlinear.kernels.conformal import PROFILES

N_ANCHORS = 9
# A single kernel, and some in no order, one of them twice.
SETS = {"one": [4], "some": [20, 3, 11, 3, 0]}
each_profile = pytest.mark.parametrize("profile", PROFILES)
each_reach = pytest.mark.parametrize("per_feature", [False, True], ids=["whole", "per feature"])
each_dtype = pytest.mark.parametrize("dtype", [np.float32, np.float64])
each_set = pytest.mark.parametrize("which", SETS.values(), ids=SETS)


def make(anchors, profile="gaussian", per_feature=False, divided=True):
    """Every anchor with three γ, in the order of ``of_all``; divisors of all sizes."""
    gammas = PROFILES[profile].gamma(np.array([0.3, 1.0, 3.0]), 4.0)
    bank = ConformalBank.of_all(anchors, gammas, PROFILES[profile], per_feature)
    if divided:
        bank.divisors = np.random.default_rng(1).uniform(0.2, 5.0, len(bank))
    return bank


def kernels_of(bank, which=None):
    """The same as objects that know nothing of banks, on float64 anchors."""
    which = np.arange(len(bank)) if which is None else which
    return [
        Conformal(
            bank.anchors[bank.places[m]].astype(np.float64), float(bank.gammas[m]),
            bank.profile.name, bank.per_feature,
        )
        for m in which
    ]  # fmt: skip


def features_of(bank, X, which=None):
    """φ_m(x_i), shape (len(which), n_rows, n_features), in float64."""
    parts = [kernel.features(X.astype(np.float64)) for kernel in kernels_of(bank, which)]
    return np.array(parts).reshape(len(parts), *X.shape)


def grams_of(bank, X, which=None):
    """K_m / divisor_m."""
    which = np.arange(len(bank)) if which is None else which
    return [
        kernel(X.astype(np.float64)) / divisor
        for kernel, divisor in zip(kernels_of(bank, which), bank.divisors[which], strict=True)
    ]


def ulps(dtype, count):
    return count * np.finfo(dtype).eps


@pytest.fixture
def anchors(Z):
    return Z[:N_ANCHORS].copy()


@pytest.fixture
def coef(rng):
    return np.where(rng.random(30) < 0.7, rng.standard_normal(30), 0.0)


def test_every_anchor_comes_with_every_gamma(anchors):
    gammas = np.array([0.1, 2.0])
    bank = ConformalBank.of_all(anchors, gammas, PROFILES["linear"], True)
    assert len(bank) == 2 * N_ANCHORS
    for m in range(len(bank)):
        np.testing.assert_array_equal(bank.anchors_of([m])[0], anchors[m // 2])
        assert bank.gammas[m] == gammas[m % 2]
    np.testing.assert_array_equal(bank.divisors, np.ones(2 * N_ANCHORS))


@each_profile
@each_reach
@each_dtype
@each_set
def test_gates_are_what_the_kernels_fade_by(X, anchors, profile, per_feature, dtype, which):
    X, which = X.astype(dtype), np.array(which)
    bank = make(anchors, profile, per_feature)
    found = bank.gates(X, which)
    away = X[:, None, :] - bank.anchors_of(which)
    squares = away**2 if per_feature else (away**2).sum(axis=2)
    gammas = bank.gammas[which][:, None] if per_feature else bank.gammas[which]
    exact = PROFILES[profile].values(squares, gammas)
    # squared distances of zero are certain to ε, and their roots to √ε
    root = bank.profile.of_root and not per_feature
    atol = 10 * np.sqrt(np.finfo(dtype).eps) if root else ulps(dtype, 100)
    np.testing.assert_allclose(found, exact, atol=atol)
    assert found.dtype == dtype
    assert found.shape == ((30, len(which), 4) if per_feature else (30, len(which)))


@each_profile
@each_reach
@each_dtype
@each_set
def test_a_gram_matrix_is_the_weighted_sum_of_the_kernels(
    X, rng, anchors, profile, per_feature, dtype, which
):
    X, which = X.astype(dtype), np.array(which)
    bank, factors = make(anchors, profile, per_feature), rng.random(len(which))
    found = bank.gram(X, which, factors)
    exact = np.tensordot(factors, grams_of(bank, X, which), 1)
    np.testing.assert_allclose(found, exact, atol=ulps(dtype, 500))
    assert found.dtype == dtype


@each_profile
@each_reach
@each_dtype
@each_set
def test_what_is_collected_is_the_sum_of_features(
    X, coef, anchors, profile, per_feature, dtype, which
):
    X, which = X.astype(dtype), np.array(which)
    bank = make(anchors, profile, per_feature)
    found = bank.collect(X, coef, which)
    exact = np.einsum("i,mid->md", coef, features_of(bank, X, which))
    np.testing.assert_allclose(found, exact, atol=ulps(dtype, 500))
    assert found.shape == (len(which), 4)
    assert found.dtype == np.float64


@each_profile
@each_reach
@each_dtype
def test_traces_are_weighted_means_of_squared_lengths(
    X, rng, anchors, profile, per_feature, dtype
):  # fmt: skip
    X, weight = X.astype(dtype), rng.uniform(0.0, 3.0, 30)
    bank = make(anchors, profile, per_feature)
    found = bank.traces(X, weight)
    lengths = [kernel.diagonal(X.astype(np.float64)) for kernel in kernels_of(bank)]
    np.testing.assert_allclose(found, np.average(lengths, axis=1, weights=weight), rtol=1e-4)
    assert found.shape == (3 * N_ANCHORS,)


@each_profile
@each_reach
@each_dtype
@each_set
def test_scores_are_products_with_the_features(
    X, rng, anchors, profile, per_feature, dtype, which
):  # fmt: skip
    X, which = X.astype(dtype), np.array(which)
    bank, images = make(anchors, profile, per_feature), rng.standard_normal((len(which), 4))
    features = features_of(bank, X, which)
    exact = np.einsum("mid,md->mi", features, images) / bank.divisors[which][:, None]
    found = bank.scores(X, images, which)
    np.testing.assert_allclose(found, exact, atol=ulps(dtype, 500))
    factors = rng.random(len(which))
    total = bank.total_scores(X, images, which, factors)
    np.testing.assert_allclose(total, factors @ exact, atol=ulps(dtype, 500))
    assert total.dtype == np.float64


@each_profile
@each_reach
@each_dtype
@each_set
def test_prices_are_the_quadratic_forms_of_the_kernels(
    X, coef, anchors, profile, per_feature, dtype, which
):
    X, which = X.astype(dtype), np.array(which)
    bank = make(anchors, profile, per_feature)
    exact = [coef @ gram @ coef for gram in grams_of(bank, X, which)]
    np.testing.assert_allclose(
        bank.quadratics(X, coef, which), exact, rtol=1e-4, atol=ulps(dtype, 500)
    )  # fmt: skip


def test_prices_in_double_precision_are_exact(X, coef, anchors):
    bank = make(anchors)
    exact = [coef @ gram @ coef for gram in grams_of(bank, X)]
    np.testing.assert_allclose(bank.quadratics(X, coef, np.arange(27)), exact, rtol=1e-11)


@each_reach
def test_scores_of_what_was_collected_are_the_machine(X, Z, coef, anchors, per_feature):
    bank, which = make(anchors, per_feature=per_feature), np.arange(27)
    factors = np.random.default_rng(2).random(27)
    images = bank.collect(X, coef, which)
    exact = sum(
        factor / divisor * (kernel(Z, X) @ coef)
        for factor, divisor, kernel in zip(factors, bank.divisors, kernels_of(bank), strict=True)
    )
    np.testing.assert_allclose(bank.total_scores(Z, images, which, factors), exact, atol=1e-12)


@each_reach
def test_some_kernels_can_be_taken_as_a_bank(X, coef, anchors, per_feature):
    bank, which = make(anchors, "linear", per_feature), np.array([25, 4, 3, 24])
    part = bank.take(which)
    assert len(part) == 4
    assert len(part.anchors) == 2  # no more than are needed
    assert kernels_of(part) == kernels_of(bank, which)
    np.testing.assert_array_equal(part.divisors, bank.divisors[which])
    np.testing.assert_allclose(
        part.quadratics(X, coef, np.arange(4)), bank.quadratics(X, coef, which), rtol=1e-12
    )


def test_no_kernels_can_be_taken(anchors):
    part = make(anchors).take(np.arange(0))
    assert len(part) == 0
    assert part.anchors.shape == (0, 4)


def test_kernels_can_be_taken_by_marks(anchors):
    bank, marks = make(anchors), np.arange(27) % 5 == 0
    assert kernels_of(bank.take(marks)) == kernels_of(bank, np.flatnonzero(marks))


@each_reach
def test_two_banks_can_be_joined(X, coef, anchors, Z, per_feature):
    first = make(anchors, "square", per_feature)
    second = make(Z[12:15], "square", per_feature).take(np.array([7, 2]))
    both = first.joined(second)
    assert kernels_of(both) == kernels_of(first) + kernels_of(second)
    np.testing.assert_array_equal(both.divisors, [*first.divisors, *second.divisors])
    quadratics = [
        first.quadratics(X, coef, np.arange(27)),
        second.quadratics(X, coef, np.arange(2)),
    ]
    np.testing.assert_allclose(
        both.quadratics(X, coef, np.arange(29)), np.concatenate(quadratics), rtol=1e-12
    )


def test_a_bank_joined_with_an_empty_one_is_the_same(anchors):
    bank = make(anchors)
    empty = bank.take(np.arange(0))
    for both in (bank.joined(empty), empty.joined(bank)):
        assert kernels_of(both) == kernels_of(bank)
        np.testing.assert_array_equal(both.divisors, bank.divisors)


def test_a_bank_knows_the_kernels_it_holds(anchors, Z):
    bank = make(anchors).take(np.array([0, 4, 20, 26]))
    np.testing.assert_array_equal(
        np.flatnonzero(bank.holds(make(anchors[::-1]))), [2, 8, 22, 24]
    )  # the same anchors from behind
    np.testing.assert_array_equal(bank.holds(make(Z[12:14])), np.zeros(6, dtype=bool))
    assert bank.holds(bank).all()


@each_dtype
def test_a_bank_knows_its_kernels_in_any_precision(anchors, dtype):
    anchors = anchors.astype(np.float32)
    anchors[0] = 0.0
    bank, others = make(anchors), make(anchors.astype(dtype))
    assert bank.holds(others).all()
    assert others.holds(bank).all()
    others.anchors[0] *= -1.0  # a zero below zero is zero
    assert bank.holds(others).all()


def test_an_empty_bank_holds_nothing(anchors):
    bank = make(anchors)
    empty = bank.take(np.arange(0))
    assert not empty.holds(bank).any()
    assert bank.holds(empty).shape == (0,)


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0])
@each_reach
def test_kernels_are_divided_by_a_power_of_their_length(X, anchors, exponent, per_feature):
    bank, weight = make(anchors, per_feature=per_feature, divided=False), np.ones(30)
    traces = bank.traces(X, weight)
    bank.normalize(traces, exponent, 7.0)
    np.testing.assert_allclose(bank.divisors, traces**exponent * 7.0 ** (1.0 - exponent))
    mean_diagonals = [np.diag(gram).mean() for gram in grams_of(bank, X)]
    np.testing.assert_allclose(mean_diagonals, (traces / 7.0) ** (1.0 - exponent), rtol=1e-9)


@pytest.fixture
def partly_empty(X):
    """A bounded profile of two γ: the narrow one holds nothing but its anchor, but for X[0]."""
    X[1] = X[0] + 0.01
    bank = ConformalBank.of_all(X[:6], [1e-3, 20.0], PROFILES["linear"])
    return bank, np.array([False, False] + [False, False] + 4 * [False, True])


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0])
def test_kernels_that_hold_only_their_anchor_become_zero(X, coef, partly_empty, exponent):
    bank, is_empty = partly_empty
    traces = bank.traces(X, np.ones(30))
    np.testing.assert_array_equal(traces < 1e-12, is_empty)
    bank.normalize(traces, exponent, 2.0)
    np.testing.assert_array_equal(np.isinf(bank.divisors), is_empty)
    everyone, images = np.arange(12), bank.collect(X, coef, np.arange(12))
    np.testing.assert_array_equal(bank.quadratics(X, coef, everyone)[is_empty], np.zeros(4))
    np.testing.assert_array_equal(bank.scores(X, images, everyone)[is_empty], np.zeros((4, 30)))
    empty = np.flatnonzero(is_empty)
    np.testing.assert_array_equal(bank.gram(X, empty, np.ones(4)), np.zeros((30, 30)))


def test_all_kernels_may_hold_nothing(X, coef):
    bank = ConformalBank.of_all(X[:3], [1.0, 5.0], PROFILES["square"])
    alone = np.repeat(X[3:4] + 100.0, 30, axis=0)
    bank.normalize(bank.traces(alone, np.ones(30)), 0.5, 1.0)
    assert np.isinf(bank.divisors).all()
    np.testing.assert_array_equal(bank.quadratics(X, coef, np.arange(6)), np.zeros(6))


def test_all_kernels_around_equal_rows_hold_nothing(rng):
    X = np.repeat(rng.standard_normal((1, 3)), 8, axis=0)
    for per_feature in (False, True):
        bank = ConformalBank.of_all(X[:1], [0.1, 1.0], PROFILES["gaussian"], per_feature)
        bank.normalize(bank.traces(X, np.ones(8)), 0.5, 1.0)
        assert np.isinf(bank.divisors).all()


def far_rows(dtype, offset):
    rng = np.random.default_rng(3)
    return (rng.standard_normal((60, 4)) + offset).astype(dtype)


@each_profile
@each_reach
@pytest.mark.parametrize(
    "dtype, offset, atol",
    # differences of rows are exact, so that errors are those of rows near the origin
    [(np.float32, 1e4, 1e-5), (np.float64, 1e9, 1e-12)],
    ids=["float32", "float64"],
)
def test_rows_far_from_the_origin_are_as_good_as_any(profile, per_feature, dtype, offset, atol):
    X, rng = far_rows(dtype, offset), np.random.default_rng(4)
    bank, which, coef = make(X[:5], profile, per_feature, False), np.arange(15), rng.random(60)
    features, factors = features_of(bank, X), rng.random(15) / 15
    exact = np.einsum("i,mid->md", coef, features)
    np.testing.assert_allclose(bank.collect(X, coef, which), exact, atol=10 * atol)  # of 60 rows
    grams = np.einsum("m,mid,mjd->ij", factors, features, features)
    np.testing.assert_allclose(bank.gram(X, which, factors), grams, atol=atol)
    images = rng.standard_normal((15, 4))
    scores = np.einsum("mid,md->mi", features, images)
    np.testing.assert_allclose(bank.scores(X, images, which), scores, atol=atol)
    total = bank.total_scores(X, images, which, factors)
    np.testing.assert_allclose(total, factors @ scores, atol=atol)
    traces = (features**2).sum(axis=2).mean(axis=1)
    np.testing.assert_allclose(bank.traces(X, np.ones(60)), traces, atol=atol)


def check_everything(bank, X, n_jobs=None):
    """All methods against features of all kernels at all rows."""
    rng, which = np.random.default_rng(5), np.random.default_rng(6).permutation(len(bank))
    coef, factors = rng.standard_normal(len(X)), rng.random(len(bank))
    images = rng.standard_normal((len(bank), X.shape[1]))
    features = features_of(bank, X, which)
    divisors = bank.divisors[which]
    collected = np.einsum("i,mid->md", coef, features)
    scores = np.einsum("mid,md->mi", features, images) / divisors[:, None]
    np.testing.assert_allclose(bank.collect(X, coef, which, n_jobs), collected, atol=1e-10)
    np.testing.assert_allclose(
        bank.quadratics(X, coef, which, n_jobs), (collected**2).sum(axis=1) / divisors, rtol=1e-9
    )
    np.testing.assert_allclose(bank.scores(X, images, which), scores, atol=1e-10)
    np.testing.assert_allclose(
        bank.total_scores(X, images, which, factors, n_jobs), factors @ scores, atol=1e-9
    )
    weight = rng.random(len(X))
    lengths = np.empty(len(bank))
    lengths[which] = (features**2).sum(axis=2) @ weight / weight.sum()
    np.testing.assert_allclose(bank.traces(X, weight), lengths, rtol=1e-9)


@each_reach
def test_tiles_of_rows_and_of_kernels_make_a_whole(rng, per_feature):
    X = rng.standard_normal((2300, 3))  # two stretches of rows, the second one narrow
    n_anchors = 30 if per_feature else 90
    check_everything(make(X[:n_anchors], "gaussian", per_feature), X)


@each_profile
@each_reach
@pytest.mark.parametrize("tile", [1, 7, 64])
def test_small_tiles_make_the_same_whole(rng, profile, per_feature, tile, monkeypatch):
    monkeypatch.setattr(conformal_bank, "_TILE", tile)
    monkeypatch.setattr(conformal_bank, "_MOST_COLUMNS", 8)
    X = rng.standard_normal((29, 3))
    check_everything(make(X[:7], profile, per_feature), X, n_jobs=2)


@each_profile
@each_reach
@each_dtype
def test_the_number_of_threads_does_not_change_a_bit(
    X, rng, coef, anchors, profile, per_feature, dtype, monkeypatch
):
    monkeypatch.setattr(conformal_bank, "_TILE", 64)
    monkeypatch.setattr(conformal_bank, "_MOST_COLUMNS", 8)
    X, bank, which = X.astype(dtype), make(anchors, profile, per_feature), rng.permutation(27)
    images, factors = rng.standard_normal((27, 4)), rng.random(27)
    ways = (
        lambda n_jobs: bank.collect(X, coef, which, n_jobs),
        lambda n_jobs: bank.quadratics(X, coef, which, n_jobs),
        lambda n_jobs: bank.total_scores(X, images, which, factors, n_jobs),
    )
    for way in ways:
        np.testing.assert_array_equal(way(1), way(2))
        np.testing.assert_array_equal(way(None), way(3))


def test_no_rows_are_answered_for_without_complaint(X, anchors):
    bank, none, which = make(anchors), X[:0], np.arange(27)
    np.testing.assert_array_equal(bank.collect(none, np.zeros(0), which), np.zeros((27, 4)))
    np.testing.assert_array_equal(bank.quadratics(none, np.zeros(0), which), np.zeros(27))
    assert bank.scores(none, np.zeros((27, 4)), which).shape == (27, 0)
    assert bank.total_scores(none, np.zeros((27, 4)), which, np.ones(27)).shape == (0,)


@each_reach
def test_no_kernels_answer_with_zero_and_without_complaint(X, coef, anchors, per_feature):
    bank, none, images = make(anchors, per_feature=per_feature), np.arange(0), np.zeros((0, 4))
    assert bank.collect(X, coef, none).shape == (0, 4)
    assert bank.quadratics(X, coef, none).shape == (0,)
    assert bank.scores(X, images, none).shape == (0, 30)
    total = bank.total_scores(X, images, none, np.zeros(0))
    np.testing.assert_array_equal(total, np.zeros(30))
    np.testing.assert_array_equal(bank.gram(X, none, np.zeros(0)), np.zeros((30, 30)))


@each_reach
def test_nothing_that_was_handed_in_is_written_to(X, rng, coef, anchors, per_feature):
    bank, which, images = make(anchors, "square", per_feature), np.arange(27), np.ones((27, 4))
    factors, weight = rng.random(27), rng.random(30)
    given = [X, coef, images, factors, weight, bank.anchors, bank.divisors, bank.gammas]
    before = [array.copy() for array in given]
    bank.gram(X, which, factors)
    bank.collect(X, coef, which)
    bank.scores(X, images, which)
    bank.total_scores(X, images, which, factors)
    bank.traces(X, weight)
    bank.take(which).normalize(np.ones(27), 0.5, 2.0)
    for array, old in zip(given, before, strict=True):
        np.testing.assert_array_equal(array, old)


def test_random_banks_are_the_kernels_they_stand_for():
    for seed in range(25):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((rng.integers(1, 40), rng.integers(1, 6)))
        profile, n_kernels = rng.choice(list(PROFILES)), rng.integers(1, 12)
        bank = ConformalBank(
            rng.standard_normal((4, X.shape[1])), rng.integers(0, 4, n_kernels),
            rng.choice([0.1, 0.5, rng.random()], n_kernels), PROFILES[profile],
            bool(rng.integers(2)), rng.uniform(0.5, 2.0, n_kernels),
        )  # fmt: skip
        check_everything(bank, X)
