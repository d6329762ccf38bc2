"""Formulas in NumPy against a reader of one row at a time, written from the page on the format."""

import numpy as np
import pytest
from grids import in_one_test
from numpy.testing import assert_allclose
from runtime import crafted, plain_reader
from runtime.crafted import edited, make, put

from nearlinear.runtime.container import to_bytes
from nearlinear.runtime.parts import parse
from nearlinear.runtime.scores import score


@pytest.fixture
def rows(rng):
    return rng.standard_normal((30, crafted.N_FEATURES))


def scores_of(header, arrays, X):
    return score(parse(header["predictor"], arrays), X)


def by_row(header, arrays, X):
    model = plain_reader.read(to_bytes(header, arrays))
    return np.array([plain_reader.scores(model, row) for row in X.tolist()])


@in_one_test("name", crafted.MODELS)
def test_scores_are_those_of_the_formula(name, rows):
    header, arrays = make(name)
    expected = by_row(header, arrays, rows)
    assert np.ptp(expected) > 0
    assert_allclose(scores_of(header, arrays, rows), expected, rtol=1e-11, atol=1e-12)


@in_one_test("name", crafted.MODELS)
def test_scores_in_single_precision_agree_to_it(name, rows):
    header, arrays = make(name, np.float32)
    rows = rows.astype(np.float32)
    found = scores_of(header, arrays, rows)
    assert_allclose(found, by_row(header, arrays, rows), rtol=1e-4, atol=2e-5)


@in_one_test("name", crafted.MODELS)
def test_scores_do_not_depend_on_the_company_of_a_row(name, rows):
    header, arrays = make(name)
    many = np.tile(rows, (70, 1))  # more than are scored at once
    few = scores_of(header, arrays, rows)
    found = scores_of(header, arrays, many)
    assert_allclose(found, np.tile(few, (70, 1)), rtol=1e-12, atol=1e-13)
    single = np.vstack([scores_of(header, arrays, row[None]) for row in rows])
    assert_allclose(single, few, rtol=1e-12, atol=1e-13)


@in_one_test("name", crafted.MODELS)
def test_no_rows_have_no_scores(name):
    header, arrays = make(name)
    n_outputs = scores_of(header, arrays, np.zeros((2, crafted.N_FEATURES))).shape[1]
    assert scores_of(header, arrays, np.zeros((0, crafted.N_FEATURES))).shape == (0, n_outputs)


@in_one_test("name", crafted.MODELS)
def test_rows_are_left_as_they_are(name, rows):
    before = rows.copy()
    scores_of(*make(name), rows)
    np.testing.assert_array_equal(rows, before)


@pytest.mark.parametrize("name", ["soft anchors", "reconstruction codes", "Gaussian kernel"])
def test_distances_far_from_the_origin_are_accurate(name, rows):
    header, arrays = make(name)
    far = "support" if name == "Gaussian kernel" else "gate"
    path = (far,) if far == "support" else (far, "anchors")
    moved = edited(header, arrays, lambda h, a: crafted.array_at(h, a, *path).__iadd__(1e6))
    if far == "gate":  # local models see the row itself: constants do not
        for one in ((header, arrays), moved):
            crafted.array_at(*one, "weights")[...] = 0.0
    assert_allclose(
        scores_of(*moved, rows + 1e6), scores_of(header, arrays, rows), rtol=1e-7, atol=1e-7
    )


@pytest.mark.parametrize("scale", [1e3, 1e100])
@pytest.mark.parametrize("gate", ["Softmax", "Sigmoid", "GaussianGate", "SoftmaxOf"])
def test_gates_do_not_overflow(gate, scale, rows):
    found = scores_of(*make(f"{gate} gate"), scale * rows)
    assert np.all(np.isfinite(found))


@pytest.mark.parametrize("width", [-1e3, 1e3])
def test_widths_of_a_gaussian_gate_have_limits(width, rows):
    header, arrays = make("GaussianGate gate")
    crafted.array_at(header, arrays, "gate", "log_widths")[:] = [width, 0.0, 0.0, 0.0]
    found = scores_of(header, arrays, rows)
    assert_allclose(found, by_row(header, arrays, rows), rtol=1e-11, atol=1e-12)
    crafted.array_at(header, arrays, "gate", "log_widths")[0] = np.clip(width, -20.0, 20.0)
    assert_allclose(found, scores_of(header, arrays, rows), rtol=1e-13)


def test_a_row_that_is_an_anchor_is_answered_by_it():
    header, arrays = make("inverse distances")
    anchors = crafted.array_at(header, arrays, "gate", "anchors")
    weights = crafted.array_at(header, arrays, "weights")
    biases = crafted.array_at(header, arrays, "biases")
    own = np.einsum("jd,jdo->jo", anchors, weights) + biases
    assert_allclose(scores_of(header, arrays, anchors), own, atol=1e-6)


def test_equal_distances_are_settled_by_the_anchors_numbers(rng):
    header, arrays = make("constants around anchors")
    near = rng.permutation(200) < 100
    crafted.put_array("gate", "anchors", np.where(near, 0.5, 2.0)[:, None] * np.ones(3))(
        header, arrays
    )
    biases = np.full((200, 1), 100.0)
    biases[np.flatnonzero(near)[:3], 0] = [1.0, 2.0, 3.0]
    crafted.put_array("biases", biases)(header, arrays)
    crafted.put_array("weights", np.zeros((200, 0, 1)))(header, arrays)
    assert_allclose(scores_of(header, arrays, np.zeros((1, 3))), [[2.0]])


@pytest.mark.parametrize("name", ["soft anchors", "inverse distances", "reconstruction codes"])
def test_rows_far_from_all_anchors_are_answered(name, rows):
    header, arrays = make(name)
    found = scores_of(header, arrays, 1e4 * rows)
    assert_allclose(found, by_row(header, arrays, 1e4 * rows), rtol=1e-5)


def test_a_row_on_a_split_goes_to_the_second_child():
    header, arrays = make("tree with leaves")
    crafted.array_at(header, arrays, "splits")[:] = 0.0
    leaf = crafted.array_at(header, arrays, "weights")[-1, :, -1]
    intercept = crafted.array_at(header, arrays, "intercept")
    assert_allclose(scores_of(header, arrays, np.zeros((1, 3)))[0], leaf + intercept)


def test_rows_without_a_norm_are_zero_under_a_unit_diagonal(rows):
    header, arrays = make("UnitDiagonal kernel")
    header, arrays = edited(header, arrays, put("kernels", 0, "kernel", crafted.LINEAR))
    biases = crafted.array_at(header, arrays, "biases")
    assert_allclose(scores_of(header, arrays, np.zeros((1, 3)))[0], biases)


def test_a_machine_without_support_rows_answers_its_bias(rows):
    header, arrays = make("no support rows")
    biases = crafted.array_at(header, arrays, "biases")
    assert_allclose(scores_of(header, arrays, rows), np.tile(biases, (30, 1)))


def test_entries_of_sparse_support_that_stand_twice_are_added(rows):
    header, arrays = make("sparse support")
    support = crafted.at(header["predictor"], "support")
    indices, data = (support[name]["number"] for name in ("indices", "data"))
    arrays[indices][:2] = [0, 0]
    twice = scores_of(header, arrays, rows)
    arrays[indices][:2] = [0, 2]
    arrays[data][:2] = [arrays[data][:2].sum(), 0.0]
    assert_allclose(twice, scores_of(header, arrays, rows))
