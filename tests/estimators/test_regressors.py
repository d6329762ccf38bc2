"""What every regressor does in the same way: weights, precision, seeds, wrapping."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import coo_matrix, csc_matrix, csr_array, csr_matrix
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


def assert_same_bits(one, other, X):
    np.testing.assert_array_equal(one.predict(X), other.predict(X))


def test_a_wave_is_learned_better_than_by_a_line(small, regressor_name, wave):
    line = LinearRegression().fit(*wave).score(*wave)
    assert small(regressor_name).fit(*wave).score(*wave) > line + 0.3


# --- weights -----------------------------------------------------------------------------------


def test_weight_k_equals_k_copies(small, regressor_name, wave, rng):
    X, y = wave
    weight = rng.integers(1, 4, len(y))
    weighted = small(regressor_name).fit(X, y, sample_weight=weight)
    copied = small(regressor_name).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert_same_bits(weighted, copied, X)


def test_weight_zero_equals_absence(small, regressor_name, wave, rng):
    X, y = wave
    weight = rng.integers(0, 2, len(y))
    absent = small(regressor_name).fit(X[weight > 0], y[weight > 0])
    assert_same_bits(small(regressor_name).fit(X, y, sample_weight=weight), absent, X)


def test_the_order_of_the_rows_does_not_matter(small, regressor_name, wave, rng):
    X, y = wave
    order = rng.permutation(len(y))
    assert_same_bits(
        small(regressor_name).fit(X, y), small(regressor_name).fit(X[order], y[order]), X
    )


def test_heavy_rows_pull_harder(small, regressor_name, wave):
    X, y = wave
    X, y = np.vstack([X, X]), np.r_[y, y + 3.0]
    for weight, offset in ((0.01, 0.0), (100.0, 3.0)):
        model = small(regressor_name).fit(X, y, sample_weight=np.repeat([1.0, weight], 200))
        assert np.mean(model.predict(X) - y[:200].mean()) == pytest.approx(offset, abs=0.3)


# --- kinds of rows -----------------------------------------------------------------------------


def test_float32_rows_give_float32_values(small, regressor_name, wave):
    X, y = wave
    model = small(regressor_name).fit(X.astype(np.float32), y)
    assert model.predictor_.dtype == np.float32
    assert model.predict(X).dtype == np.float32
    assert model.score(X, y) > 0.7


def test_integer_rows_and_values_are_read_as_float64(small, regressor_name, wave):
    X, y = np.round(10 * wave[0]).astype(int), np.round(10 * wave[1]).astype(int)
    as_float = small(regressor_name).fit(X.astype(float), y.astype(float))
    assert_same_bits(small(regressor_name).fit(X, y), as_float, X)


def test_the_layout_of_the_rows_in_memory_does_not_matter(small, regressor_name, wave):
    X, y = wave
    strided = np.repeat(X, 2, axis=1)[:, ::2]
    for rows in (np.asfortranarray(X), strided):
        assert_same_bits(small(regressor_name).fit(rows, y), small(regressor_name).fit(X, y), rows)


def test_data_frames_are_read(small, regressor_name, wave):
    X, y = wave
    frame = pd.DataFrame(X, columns=["left", "right"])
    model = small(regressor_name).fit(frame, pd.Series(y))
    assert model.feature_names_in_.tolist() == ["left", "right"]
    np.testing.assert_array_equal(model.predict(frame), small(regressor_name).fit(X, y).predict(X))


@pytest.mark.parametrize("kind", [csr_matrix, csr_array, csc_matrix, coo_matrix])
def test_sparse_rows_learn_and_score_as_dense_ones(small, sparse_regressor_name, kind, wave):
    X, y = np.where(np.abs(wave[0]) < 0.3, 0.0, wave[0]), wave[1]
    # every row and its mirror image: trees center dense rows, which must change nothing here
    X, y = np.vstack([X, -X]), np.r_[y, y]
    # kernel machines stop at their gap, dense and sparse each in a place of its own
    settings = {"jitter": 0.0} if sparse_regressor_name == "LDKLRegressor" else {"tol": 1e-7}
    dense = small(sparse_regressor_name, **settings).fit(X, y)
    sparse = small(sparse_regressor_name, **settings).fit(kind(X), y)
    # hundreds of steps with sums in another order
    np.testing.assert_allclose(sparse.predict(kind(X)), dense.predict(X), atol=1e-3)
    np.testing.assert_allclose(sparse.predict(X), sparse.predict(kind(X)), atol=1e-10)


# --- repetition --------------------------------------------------------------------------------


def test_one_seed_gives_one_model(small, regressor_name, wave):
    X, y = wave
    assert_same_bits(small(regressor_name).fit(X, y), small(regressor_name).fit(X, y), X)


def test_another_seed_gives_another_model(small, random_regressor_name, wave):
    X, y = wave
    one, other = (
        small(random_regressor_name, random_state=seed).fit(X, y).predict(X) for seed in (0, 1)
    )
    assert np.abs(one - other).max() > 1e-6


def test_a_second_fit_knows_nothing_of_the_first(small, regressor_name, wave):
    X, y = wave
    model = small(regressor_name).fit(X[:50, :1], 5.0 - y[:50]).fit(X, y)
    assert_same_bits(model, small(regressor_name).fit(X, y), X)


def test_the_number_of_threads_does_not_change_a_bit(small, regressor_name, wave):
    X, y = wave
    many = np.tile(X, (12, 1)) + np.arange(2400)[:, None] * 1e-3  # several blocks
    one, two = (small(regressor_name, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2))
    assert_same_bits(one, two, many)


def test_a_model_survives_pickling(small, regressor_name, wave):
    model = small(regressor_name).fit(*wave)
    assert_same_bits(pickle.loads(pickle.dumps(model)), model, wave[0])


def test_a_clone_has_the_settings_but_nothing_learned(small, regressor_name, wave):
    model = small(regressor_name, n_jobs=2).fit(*wave)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "predictor_")


# --- inside scikit-learn, before and after -----------------------------------------------------


def test_a_grid_search_over_a_pipeline_finds_a_good_model(small, regressor_name, wave):
    X, y = wave
    setting, values = ("n_trees", [1, 20]) if "Forest" in regressor_name else ("C", [1e-6, 10.0])
    key = f"{regressor_name.lower()}__{setting}"
    search = GridSearchCV(
        make_pipeline(StandardScaler(), small(regressor_name)), {key: values}, cv=3
    ).fit(100 * X + 50, y)
    assert search.best_params_[key] == values[1]
    assert search.score(100 * X + 50, y) > 0.7


def test_a_model_that_was_not_fitted_says_so(small, regressor_name, wave):
    with pytest.raises(NotFittedError, match="not fitted"):
        small(regressor_name).predict(wave[0])


def test_cost_is_known_after_fit_only(small, regressor_name, wave):
    model = small(regressor_name)
    assert not hasattr(model, "cost_")
    cost = model.fit(*wave).cost_
    assert cost.times_linear == pytest.approx(cost.multiply_adds / 2)  # two features
    assert cost.n_bytes > 0


# --- streams -----------------------------------------------------------------------------------


def feed(model, X, y, n_passes=1):
    for _ in range(n_passes):
        for start in range(0, len(y), 50):
            model.partial_fit(X[start : start + 50], y[start : start + 50])
    return model


def test_a_wave_is_learned_portion_by_portion(small, stream_regressor_name, wave):
    line = LinearRegression().fit(*wave).score(*wave)
    assert feed(small(stream_regressor_name), *wave, n_passes=20).score(*wave) > line + 0.2


def test_one_seed_gives_one_stream(small, stream_regressor_name, wave):
    one, other = (feed(small(stream_regressor_name), *wave) for _ in range(2))
    assert_same_bits(one, other, wave[0])


def test_a_stream_goes_on_from_a_fitted_model(small, stream_regressor_name, wave):
    X, y = wave
    model = small(stream_regressor_name).fit(X[:100], y[:100])
    fitted, before = model.score(X, y), model.predict(X)
    feed(model, X[100:], y[100:])
    assert np.abs(model.predict(X) - before).max() > 1e-3  # it learned something
    assert model.score(X, y) > fitted - 0.1  # and forgot little


def test_fit_after_a_stream_begins_anew(small, stream_regressor_name, wave):
    X, y = wave
    used = feed(small(stream_regressor_name), X, -y).fit(X, y)
    assert_same_bits(used, small(stream_regressor_name).fit(X, y), X)


def test_a_portion_with_other_features_is_refused(small, stream_regressor_name, wave):
    X, y = wave
    model = small(stream_regressor_name).partial_fit(X, y)
    with pytest.raises(ValueError, match=r"X has 1 features, but .* is expecting 2 features"):
        model.partial_fit(X[:, :1], y)


@pytest.mark.parametrize("first", [np.float32, np.float64])
def test_portions_may_come_in_either_precision(small, stream_regressor_name, wave, first):
    X, y = wave
    second = np.float64 if first == np.float32 else np.float32
    model = small(stream_regressor_name).fit(X.astype(first), y)
    # forests read all rows as float32
    wanted = np.float32 if "Forest" in stream_regressor_name else first
    assert model.partial_fit(X.astype(second), y).predict(X).dtype == wanted


# --- units -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("unit", "origin"), [(1e-6, 0.0), (1e6, 0.0), (1.0, 1e6)])
def test_predictions_follow_the_unit_and_the_origin_of_the_values(
    small, regressor_name, wave, unit, origin
):
    X, y = wave
    plain = small(regressor_name).fit(X, y).predict(X)
    moved = small(regressor_name).fit(X, unit * y + origin).predict(X)
    # machines stop at their gap, and a last digit of y may lead them to another place there;
    # values of float32 have their own last digit
    digit = float(np.spacing(moved.dtype.type(origin))) / unit
    np.testing.assert_allclose((moved - origin) / unit, plain, atol=0.02 + digit)


def test_values_of_a_small_unit_are_explained_as_well_as_standardized_ones(
    small, regressor_name, wave
):
    X, y = wave
    dollars = 180_000.0 + 80_000.0 * y
    standardized = small(regressor_name).fit(X, (y - y.mean()) / y.std())
    expected = standardized.score(X, (y - y.mean()) / y.std())
    assert small(regressor_name).fit(X, dollars).score(X, dollars) == pytest.approx(
        expected, abs=0.01
    )


def test_one_value_far_out_does_not_widen_the_tube(small, regressor_name, wave):
    if regressor_name in ("LDKLRegressor", "DCPredRegressor", "LocalForestRegressor"):
        return  # the squared error follows such values
    X, y = wave
    spoiled = np.where(np.arange(200) == 17, 300.0, y)
    # the loss of that row is most of the objective, and the gap is a share of this
    left = np.abs(small(regressor_name, tol=1e-4).fit(X, spoiled).predict(X) - y)
    line = LinearRegression().fit(X, y)
    assert np.median(left) < 0.7 * np.median(np.abs(line.predict(X) - y))


@pytest.mark.parametrize("value", [0.0, 0.1, -7.0, 1e6 / 3.0])
def test_a_constant_is_learned(small, regressor_name, wave, value):
    X = wave[0]
    weight = np.linspace(0.1, 3.0, 200)
    model = small(regressor_name).fit(X, np.full(200, value), sample_weight=weight)
    # trees shrink their weights toward zero and do not get there
    np.testing.assert_allclose(model.predict(X), value, atol=0.1, rtol=1e-6)
