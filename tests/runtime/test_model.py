"""A model as a file has it: its header is checked, its rows are scaled, its scores have labels."""

import numpy as np
import pytest
from grids import in_one_test
from numpy.testing import assert_allclose
from runtime import crafted
from runtime.crafted import edited, make, put_top

from nearlinear.runtime.container import ModelFileError
from nearlinear.runtime.model import model_of
from nearlinear.runtime.preparation_rules import FIELDS
from nearlinear.runtime.scores import score

TWO, THREE = "soft anchors", "two kernels"  # models of one output, and of three
HUGE = 10**400
NAN = {"$": "number", "value": "nan"}
UNCHANGED = dict.fromkeys(FIELDS)  # a preparation that leaves rows as they are


def model(name, **changes):
    header, arrays = make(name)
    return model_of({**header, **changes}, arrays)


@pytest.fixture
def rows(rng):
    return rng.standard_normal((20, crafted.N_FEATURES))


def scaled_by(mean, scale, name=TWO, **changes):
    """A model that scales its rows."""
    header, arrays = make(name)
    preparation = dict(UNCHANGED)
    for key, values in (("shift", mean), ("scale", scale)):
        if values is not None:
            arrays.append(np.asarray(values))
            preparation[key] = {"$": "array", "number": len(arrays) - 1}
    return model_of({**header, "preparation": preparation, **changes}, arrays)


# --- scores and labels --------------------------------------------------------------------------


def test_one_output_gives_one_number_for_each_row(rows):
    found = model(TWO)
    scores = found.decision_function(rows)
    np.testing.assert_array_equal(scores, score(found.predictor, rows)[:, 0])


def test_several_outputs_give_a_column_each(rows):
    assert model(THREE).decision_function(rows).shape == (20, 3)


def test_the_second_class_is_where_the_score_is_positive(rows):
    found = model(TWO)
    labels = np.where(found.decision_function(rows) > 0, "yes", "no")
    assert set(labels) == {"yes", "no"}
    assert found.predict(rows).tolist() == labels.tolist()


def test_a_score_of_zero_is_the_first_class():
    header, arrays = make(TWO)
    for name in ("weights", "biases"):
        crafted.array_at(header, arrays, name)[...] = 0.0
    assert model_of(header, arrays).predict(np.zeros((1, 3))).tolist() == ["no"]


def test_of_several_classes_the_first_of_the_largest_scores_wins(rows):
    found = model(THREE)
    expected = np.array(["no", "yes", "so"])[found.decision_function(rows).argmax(axis=1)]
    assert len(set(expected)) > 1
    assert found.predict(rows).tolist() == expected.tolist()


def test_a_regression_predicts_its_scores(rows):
    found = model(TWO, classes=None, method="LDKLRegressor")
    np.testing.assert_array_equal(found.predict(rows), found.decision_function(rows))


@pytest.mark.parametrize(
    "labels", [["a", "b"], [0, 1], [-1, 1], [5, 3], [False, True], [0.5, 2.0], ["", "ü"]]
)
@pytest.mark.parametrize("form", ["list", "objects", "array"])
def test_labels_keep_their_values(rows, labels, form):
    header, arrays = make(TWO)
    if form == "array" and isinstance(labels[0], str):
        header["classes"] = {"$": "strings", "items": labels}
    elif form == "array":
        arrays.append(np.array(labels))
        header["classes"] = {"$": "array", "number": len(arrays) - 1}
    else:
        header["classes"] = labels if form == "list" else {"$": "objects", "items": labels}
    found = model_of(header, arrays)
    expected = [labels[int(value > 0)] for value in found.decision_function(rows)]
    predicted = found.predict(rows).tolist()
    assert predicted == expected
    assert {type(label) for label in predicted} == {type(labels[0])}


# --- rows ---------------------------------------------------------------------------------------


def test_rows_are_centered_and_scaled_before_they_are_scored(rows):
    mean, scale = np.array([1.0, -2.0, 0.5]), np.array([2.0, 0.5, 1.0])
    plain = model(TWO).decision_function((rows - mean) / scale)
    assert_allclose(scaled_by(mean, scale).decision_function(rows), plain, rtol=1e-12)
    assert_allclose(
        scaled_by(mean, None).decision_function(rows),
        model(TWO).decision_function(rows - mean), rtol=1e-12,
    )  # fmt: skip
    assert_allclose(
        scaled_by(None, scale).decision_function(rows),
        model(TWO).decision_function(rows / scale), rtol=1e-12,
    )  # fmt: skip


def test_rows_far_away_are_scaled_before_they_lose_their_digits(rows):
    mean = np.full(3, 1e6)
    header, arrays = make(TWO, np.float32)
    plain = model_of(header, arrays).decision_function(rows)
    arrays.append(mean)
    header["preparation"] = UNCHANGED | {"shift": {"$": "array", "number": len(arrays) - 1}}
    found = model_of(header, arrays).decision_function(rows + mean)
    assert found.dtype == np.float32
    assert_allclose(found, plain, rtol=1e-4, atol=1e-5)


def test_a_second_matrix_of_the_gate_follows_the_features_and_is_not_scaled(rows):
    mean, scale = np.array([10.0, 20.0]), np.array([2.0, 3.0])
    found = scaled_by(mean, scale, "Viewing gate", n_features=2, n_gating_features=1)
    moved = rows.copy()
    moved[:, :2] = moved[:, :2] * scale + mean
    assert_allclose(
        found.decision_function(moved), model("Viewing gate").decision_function(rows), rtol=1e-10
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, bool, object])
def test_rows_of_any_numbers_are_taken_and_left_as_they_are(dtype):
    X = np.array([[0, 1, 1], [1, 0, 0]], dtype=dtype)
    before = X.copy()
    found = scaled_by(np.ones(3), np.full(3, 2.0)).decision_function(X)
    expected = scaled_by(np.ones(3), np.full(3, 2.0)).decision_function(X.astype(float))
    assert_allclose(found, expected, rtol=1e-6)
    np.testing.assert_array_equal(X, before, strict=True)


def test_lists_of_rows_are_taken():
    assert model(TWO).predict([[0.0, 1.0, 2.0], [1, 2, 3]]).shape == (2,)


def test_scores_have_the_precision_of_the_model(rows):
    header, arrays = make("tree of TanhNode", np.float32)
    assert model_of(header, arrays).decision_function(rows).dtype == np.float32


@in_one_test("name", [TWO, THREE, "forest", "stacked", "gated rows"])
def test_no_rows_are_no_error(name):
    assert len(model(name).predict(np.zeros((0, 3)))) == 0


@in_one_test(
    "X", [[1.0, 2.0, 3.0], [[1.0, 2.0]], [[1.0, 2.0, 3.0, 4.0]], [[[1.0, 2.0, 3.0]]], 1.0, []]
)
def test_rows_of_another_length_are_refused(X):
    with pytest.raises(ValueError, match="takes rows of 3 numbers, X has shape"):
        model(TWO).predict(X)


@in_one_test("value", [np.nan, np.inf, -np.inf])
def test_rows_that_are_not_finite_are_refused(value):
    with pytest.raises(ValueError, match="X holds NaN or infinity"):
        model(TWO).predict([[0.0, value, 1.0]])


# --- lies of the header -------------------------------------------------------------------------


KEYS = (
    "method", "predictor", "n_features", "n_gating_features", "feature_names", "classes",
    "parameters", "attributes", "preparation", "record",
)  # fmt: skip


@in_one_test("key", KEYS)
def test_every_key_of_the_header_is_needed(key):
    header, arrays = make(TWO)
    del header[key]
    with pytest.raises(ModelFileError, match=f"does not say its {key}"):
        model_of(header, arrays)


def test_further_keys_are_left_to_later_versions(rows):
    assert len(model(TWO, later={"any": "thing"}).predict(rows)) == 20


LIES = {
    "n_features": (None, True, 3.0, "3", -1, 2, 4, 0, HUGE, 2**31, [], NAN),
    "n_gating_features": (None, True, False, 0.0, "0", -1, 1, HUGE, 2**31, [], NAN),
    "classes": (
        [], ["a"], ["a", "b", "c"], ["a", "a"], ["a", 1], [None, None], [0, 0.0],
        [1, True], [[1], [2]], [[1, 2], [3]], ["a", None], [NAN, 1.0], [NAN, NAN], "ab", 2, True,
        {"a": 1}, {"$": "tuple", "items": ["a", "b"]}, {"$": "array", "number": 0},
        {"$": "array", "number": 99}, {"$": "dict", "items": []}, [crafted.LINEAR, crafted.LINEAR],
        {"$": "strings", "items": ["a"]}, {"$": "strings", "items": None},
        {"$": "objects", "items": [["a"], ["b"]]}, {"$": "objects", "items": 2},
    ),
    "feature_names": (
        [], ["a", "b"], ["a", "b", "c", "d"], ["a", "b", 3], ["a", "b", None], "abc", 3, True,
        {"a": 1, "b": 2, "c": 3}, [["a"], ["b"], ["c"]],
    ),
    "preparation": (
        1, "none", [], {}, {"shift": None}, UNCHANGED | {"shift": 1.0},
        UNCHANGED | {"scale": [1.0, 1.0, 1.0]}, UNCHANGED | {"shift": [], "scale": []},
        UNCHANGED | {"shift": {"$": "array", "number": 0}}, crafted.LINEAR,
    ),
    "parameters": (None, 1, [], "x", {}, crafted.items(), crafted.LINEAR, {"$": "dict"}),
}  # fmt: skip


@in_one_test("key, value", [(key, value) for key, values in LIES.items() for value in values])
def test_every_lie_of_the_header_is_refused(key, value):
    with pytest.raises(ModelFileError) as found:
        model_of(*edited(*make(TWO), put_top(key, value)))
    assert "\n" not in str(found.value)


@pytest.mark.parametrize("classes", [None, ["a", "b"], [1, 2], ["a", "b", "c", "d"]])
def test_three_outputs_need_three_classes(classes):
    with pytest.raises(ModelFileError, match="classes"):
        model(THREE, classes=classes)


@in_one_test("mean, scale", [
        ([0.0, 0.0], None), (None, [1.0] * 4), ([[0.0] * 3], None), ([0, 0, 0], None),
        (None, [1, 1, 1]), ([np.nan, 0.0, 0.0], None), ([np.inf, 0.0, 0.0], None),
        (None, [np.nan, 1.0, 1.0]), (None, [0.0, 1.0, 1.0]), (None, [-1.0, 1.0, 1.0]),
        (None, [np.inf, 1.0, 1.0]), ([True, False, True], None),
    ])  # fmt: skip
def test_a_scaler_has_finite_numbers_and_positive_scales(mean, scale):
    with pytest.raises(ModelFileError, match="preparation"):
        scaled_by(mean, scale)


@pytest.mark.parametrize("record", [None, 1, [], "x", {"scaled": 1}, {"cost": None}])
def test_the_record_is_for_readers_and_never_in_the_way(record, rows):
    assert len(model(TWO, record=record).predict(rows)) == 20
