"""Learned gates against their formulas, and their gradients against differences."""

import numpy as np
import pytest
from grids import in_one_test
from scipy.sparse import csr_matrix, issparse

from nearlinear.gates.clustering import fit_anchors
from nearlinear.gates.learned import (
    GATES,
    Columns,
    GaussianGate,
    Rounded,
    Sigmoid,
    Softmax,
    Viewing,
    softmax,
)

N_COMPONENTS = 3
COLUMNS = (3, 1)


def squares(X):
    """A view that dense rows and CSR have alike."""
    return X.multiply(X).tocsr() if issparse(X) else X**2


def make(name, n_features=4):
    """A gate with parameters of size one."""
    rng = np.random.default_rng(5)
    directions = rng.standard_normal((N_COMPONENTS, n_features))
    offsets = 0.5 * rng.standard_normal(N_COMPONENTS)
    if name == "gaussian":
        return GaussianGate(directions, offsets, scale=3.0)
    return {"softmax": Softmax, "sigmoid": Sigmoid}[name](directions, offsets)


VIEWS = {
    "all": make,
    "columns": lambda name: Viewing(make(name, 2), Columns(COLUMNS)),
    "function": lambda name: Viewing(make(name), squares),
}
each_gate = pytest.mark.parametrize("name", GATES)
each_sharing_gate = pytest.mark.parametrize("name", ["softmax", "gaussian"])
each_view = pytest.mark.parametrize("view", VIEWS)
each_form = pytest.mark.parametrize("as_rows", [np.asarray, csr_matrix], ids=["dense", "sparse"])


@pytest.fixture
def Z(rng):
    rows = rng.standard_normal((25, 4))
    rows[rows < -0.7] = 0.0
    return rows


@pytest.fixture
def slopes(rng):
    return rng.standard_normal((25, N_COMPONENTS))


def plain(name, gate, z):
    """γ(z) of one row, straight from its definition."""
    if name == "sigmoid":
        return [1.0 / (1.0 + np.exp(-v @ z - v0)) for v, v0 in zip(gate.directions, gate.offsets)]
    if name == "softmax":
        parts = [np.exp(v @ z + v0) for v, v0 in zip(gate.directions, gate.offsets)]
    else:
        widths = np.sqrt(gate.scale) * np.exp(gate.log_widths)
        parts = [
            np.exp(-(((z - mu) / width) ** 2).sum()) for mu, width in zip(gate.centers, widths)
        ]
    return np.array(parts) / sum(parts)


@each_gate
def test_gates_follow_their_definition(Z, name):
    gate = make(name)
    np.testing.assert_allclose(gate(Z), [plain(name, gate, z) for z in Z], rtol=1e-12)


@each_gate
def test_a_view_shows_the_gate_some_columns(Z, name):
    seen = Z[:, [3, 1]]
    np.testing.assert_array_equal(VIEWS["columns"](name)(Z), make(name, 2)(seen))


@each_gate
def test_a_view_shows_the_gate_a_function_of_the_rows(Z, name):
    np.testing.assert_array_equal(VIEWS["function"](name)(Z), make(name)(Z**2))


@each_gate
@each_view
@each_form
def test_the_gradient_is_that_of_the_gate(Z, slopes, name, view, as_rows):
    gate, rows, step = VIEWS[view](name), as_rows(Z), 1e-5
    at = gate.parameters
    units = step * np.eye(len(at))
    differences = [
        (
            slopes * (gate.with_parameters(at + unit)(rows) - gate.with_parameters(at - unit)(rows))
        ).sum()
        / (2 * step)
        for unit in units
    ]
    gradient = gate.gradient(rows, slopes)
    assert gradient.shape == at.shape
    # rounding of sums of size ten over the step
    np.testing.assert_allclose(gradient, differences, rtol=1e-7, atol=1e-8)


@each_gate
@each_view
def test_sparse_rows_have_the_gates_and_gradient_of_dense_ones(Z, slopes, name, view):
    gate, rows = VIEWS[view](name), csr_matrix(Z)
    values, gradient = gate(rows), gate.gradient(rows, slopes)
    np.testing.assert_allclose(values, gate(Z), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(gradient, gate.gradient(Z, slopes), rtol=1e-11, atol=1e-12)
    assert type(values) is type(gradient) is np.ndarray


@each_gate
@each_view
@each_form
def test_rows_in_single_precision_have_nearly_the_same_gates(Z, slopes, name, view, as_rows):
    gate, rows = VIEWS[view](name), as_rows(Z.astype(np.float32))
    np.testing.assert_allclose(gate(rows), gate(Z), rtol=1e-5)
    # the rows themselves are rounded to seven digits
    np.testing.assert_allclose(
        gate.gradient(rows, slopes), gate.gradient(Z, slopes), rtol=1e-5, atol=1e-5
    )


@each_gate
@each_view
def test_a_gate_moved_to_its_own_parameters_is_the_same(Z, name, view):
    gate = VIEWS[view](name)
    np.testing.assert_array_equal(gate.with_parameters(gate.parameters)(Z), gate(Z))


@each_gate
@each_view
def test_to_move_a_gate_leaves_the_old_one_where_it_was(Z, name, view):
    gate = VIEWS[view](name)
    before = gate(Z)
    moved = gate.with_parameters(gate.parameters + 1.0 + np.arange(len(gate.parameters)))
    assert not np.allclose(moved(Z), before)
    np.testing.assert_array_equal(gate(Z), before)


@each_sharing_gate
@each_view
def test_gates_that_share_out_a_row_sum_to_one(Z, name, view):
    np.testing.assert_allclose(VIEWS[view](name)(Z).sum(axis=1), 1.0, rtol=1e-14)


def test_a_softmax_does_not_feel_a_shift_of_all_directions_and_offsets(Z, rng):
    gate = make("softmax")
    shifted = Softmax(gate.directions + rng.standard_normal(4), gate.offsets + 7.0)
    np.testing.assert_allclose(shifted(Z), gate(Z), rtol=1e-12)


def test_a_softmax_has_no_slope_along_a_shift_of_all_directions_and_offsets(Z, slopes):
    gradient = make("softmax").gradient(Z, slopes)
    along = gradient[:-N_COMPONENTS].reshape(N_COMPONENTS, 4).sum(axis=0)
    np.testing.assert_allclose(along, 0.0, atol=1e-12)
    assert gradient[-N_COMPONENTS:].sum() == pytest.approx(0.0, abs=1e-12)


@each_gate
@in_one_test("factor", [1e4, -1e4, 1e200])
def test_large_scores_do_not_overflow(Z, slopes, name, factor):
    gate, rows = make(name), Z.copy()
    if name == "gaussian":
        rows *= min(abs(factor), 1e100)  # squares must stay finite
    else:
        gate = gate.with_parameters(factor * gate.parameters)
    values = gate(rows)
    assert np.all((values >= 0.0) & (values <= 1.0))
    assert np.all(np.isfinite(gate.gradient(rows, slopes)))
    if name != "sigmoid":
        np.testing.assert_allclose(values.sum(axis=1), 1.0)


def test_softmax_of_equal_scores_is_uniform():
    np.testing.assert_array_equal(softmax(np.full((2, 4), -1e300)), np.full((2, 4), 0.25))


def test_a_row_at_a_center_has_a_finite_gaussian_gradient(slopes):
    gate = make("gaussian")
    rows = np.repeat(gate.centers, 2, axis=0)
    assert np.all(np.isfinite(gate.gradient(rows, slopes[:6])))
    assert np.all(gate(rows) > 0.0)


def start(name, Z, n_components=N_COMPONENTS, seed=0):
    return GATES[name].start(Z, n_components, np.random.RandomState(seed))


@each_gate
@each_form
@pytest.mark.parametrize("n_components", [1, 2, 5])
def test_a_start_has_as_many_components_as_asked_for(Z, name, as_rows, n_components):
    gate = start(name, as_rows(Z), n_components)
    assert gate(as_rows(Z)).shape == (25, n_components)
    assert gate.parameters.shape == (n_components * (4 + 1),)
    assert gate.parameters.dtype == np.float64


@each_sharing_gate
@each_form
def test_one_component_alone_answers_for_all_rows(Z, name, as_rows):
    gate = start(name, as_rows(Z), 1)
    np.testing.assert_array_equal(gate(as_rows(Z)), np.ones((25, 1)))


def test_one_component_of_a_sigmoid_starts_half_open(Z):
    np.testing.assert_array_equal(start("sigmoid", Z, 1)(Z), np.full((25, 1), 0.5))


@each_gate
@each_form
@pytest.mark.parametrize("n_distinct", [1, 2, 4])
def test_more_components_than_distinct_rows_start_without_complaint(Z, name, as_rows, n_distinct):
    rows = as_rows(np.tile(Z[:n_distinct], (5, 1)))
    gate = start(name, rows, 6)
    values = gate(rows)
    assert np.all((values > 0.0) & (values < 1.0))
    assert np.all(np.isfinite(gate.gradient(rows, np.ones(values.shape))))


@each_gate
def test_more_components_than_rows_start_without_complaint(Z, name):
    gate = start(name, Z[:2], 7)
    values = gate(Z[:2])
    assert np.all((values > 0.0) & (values < 1.0))


@each_gate
@each_form
def test_one_seed_gives_one_start(Z, name, as_rows):
    one, two = (start(name, as_rows(Z), 4, seed=3) for _ in range(2))
    np.testing.assert_array_equal(one.parameters, two.parameters)


@each_gate
def test_other_seeds_may_give_other_starts(Z, name):
    starts = np.array([start(name, Z, 4, seed).parameters for seed in range(5)])
    assert np.ptp(starts, axis=0).max() > 0.1


@each_gate
@each_form
@pytest.mark.parametrize("n_components", [2, 3, 6])
def test_components_start_apart(Z, name, as_rows, n_components):
    # copies of one kernel whose gates were equal would stay so forever
    values = start(name, as_rows(Z), n_components)(as_rows(Z))
    for m in range(n_components):
        others = np.delete(values, m, axis=1)
        assert np.abs(others - values[:, [m]]).max(axis=0).min() > 0.02


@each_sharing_gate
def test_at_the_start_the_nearest_center_answers_most(Z, name):
    centers = fit_anchors(Z, 4, np.random.RandomState(0), np.ones(len(Z)))
    distances = ((Z[:, None] - centers) ** 2).sum(axis=2)
    found = start(name, Z, 4)(Z)
    np.testing.assert_array_equal(found.argmax(axis=1), distances.argmin(axis=1))


def test_a_softmax_starts_around_zero(Z):
    # it would not feel a shift, but a penalty of its parameters would
    gate = start("softmax", Z + 3.0, 4)
    np.testing.assert_allclose(gate.directions.mean(axis=0), 0.0, atol=1e-12)
    assert gate.offsets.mean() == pytest.approx(0.0, abs=1e-12)


@each_gate
@pytest.mark.parametrize("factor", [1e-3, 1e3])
def test_the_start_does_not_depend_on_the_unit_of_the_rows(Z, name, factor):
    np.testing.assert_allclose(start(name, factor * Z)(factor * Z), start(name, Z)(Z), rtol=1e-8)


@each_gate
def test_the_start_does_not_depend_on_the_origin_of_the_rows(Z, name):
    moved = Z + np.array([50.0, -20.0, 100.0, 3.0])
    np.testing.assert_allclose(start(name, moved)(moved), start(name, Z)(Z), atol=1e-6)


@pytest.mark.parametrize("origin", [0.0, 100.0])
def test_a_sigmoid_starts_half_open_and_wider_near_its_center(Z, origin):
    rows = Z + origin
    centers = fit_anchors(rows, 4, np.random.RandomState(0), np.ones(len(rows)))
    values = start("sigmoid", rows, 4)(rows)
    assert values.mean() == pytest.approx(0.5, abs=0.2)
    own = np.diag(start("sigmoid", rows, 4)(centers))
    assert np.all(own > values.mean(axis=0))


@each_gate
@each_form
def test_a_start_through_a_view_is_that_of_what_is_seen(Z, name, as_rows):
    rows = as_rows(Z)
    gate = Viewing(GATES[name], Columns(COLUMNS)).start(rows, 3, np.random.RandomState(0))
    expected = start(name, as_rows(Z[:, [3, 1]]))
    np.testing.assert_allclose(gate.parameters, expected.parameters, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(gate(rows), expected(as_rows(Z[:, [3, 1]])), rtol=1e-12)


@each_gate
def test_a_start_from_rows_in_single_precision_learns_in_double(Z, name):
    gate = start(name, Z.astype(np.float32))
    assert gate.parameters.dtype == np.float64
    np.testing.assert_allclose(gate(Z), start(name, Z)(Z), rtol=1e-4)


def some_values(X):
    return X


def test_rounding_shuts_and_opens_what_is_nearly_so():
    values = np.array([[1e-4, 0.9999], [2e-3, 0.998], [0.5, 0.0], [1.0, 0.3]])
    expected = [[0.0, 1.0], [2e-3, 0.998], [0.5, 0.0], [1.0, 0.3]]
    np.testing.assert_array_equal(Rounded(some_values)(values), expected)


def test_the_margin_of_rounding_can_be_chosen():
    values = np.array([[0.09, 0.91, 0.11, 0.89]])
    np.testing.assert_array_equal(
        Rounded(some_values, 0.1)(values), [[0.0, 1.0, 0.11, 0.89]]
    )  # fmt: skip
    np.testing.assert_array_equal(Rounded(some_values, 0.0)(values), values)


def test_rounding_leaves_the_values_of_the_gate_alone():
    values = np.array([[1e-6, 1.0 - 1e-6]])
    Rounded(some_values)(values)
    np.testing.assert_array_equal(values, [[1e-6, 1.0 - 1e-6]])


@each_gate
@each_form
def test_a_sharp_gate_is_rounded_to_zeros_and_ones(Z, name, as_rows):
    gate = make(name)
    if name == "gaussian":
        sharp = GaussianGate(gate.centers, gate.log_widths - 20.0, gate.scale)
    else:
        sharp = gate.with_parameters(1e8 * gate.parameters)
    values = Rounded(sharp)(as_rows(Z))
    assert np.all((values == 0.0) | (values == 1.0))
    np.testing.assert_allclose(values, sharp(as_rows(Z)), atol=1e-3)
