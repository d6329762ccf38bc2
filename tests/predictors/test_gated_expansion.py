"""Components blended by a gate, each predictor against its formula."""

import numpy as np
import pytest
from grids import in_one_test
from scipy.sparse import csr_matrix
from small_predictors import gated_linear, machines, on_gated_rows, selected_sum, vote

from nearlinear.gates.learned import Columns, Rounded, Softmax, Viewing
from nearlinear.gates.scores import Clipped, Repeated, SoftmaxOf, UnitLength, top_and_bottom
from nearlinear.kernels import Gaussian, Linear
from nearlinear.kernels.composite import PairwiseNormalizedSum
from nearlinear.kernels.gated_grams import with_gates
from nearlinear.predictors import kernel_expansion, locally_linear
from nearlinear.predictors.combined import Stacked
from nearlinear.predictors.gated_expansion import GatedExpansion
from nearlinear.predictors.kernel_expansion import KernelExpansion

N_FEATURES, N_COMPONENTS, N_SUPPORT = 4, 3, 15
GAMMA, BIAS = 0.4, 0.7
OWNERS = (1, 0, 1)  # a Gaussian of its own, and a linear kernel for two


def make_gate(n_features=N_FEATURES):
    rng = np.random.default_rng(2)
    directions = rng.standard_normal((N_COMPONENTS, n_features))
    return Softmax(directions, rng.standard_normal(N_COMPONENTS))


def make_components(dtype=np.float64, n_support=N_SUPPORT, owners=OWNERS):
    rng = np.random.default_rng(4)
    return machines(
        (Gaussian(GAMMA), Linear()),
        owners,
        rng.standard_normal((n_support, N_FEATURES)).astype(dtype),
        rng.standard_normal((len(owners), n_support)).astype(dtype),
        rng.standard_normal(len(owners)).astype(dtype),
        N_FEATURES,
    )


def make_linear(dtype=np.float64, gate=None, n_features=N_FEATURES):
    rng = np.random.default_rng(6)
    weights = rng.standard_normal((n_features, N_COMPONENTS)).astype(dtype)
    biases = rng.standard_normal(N_COMPONENTS).astype(dtype)
    return gated_linear(gate or make_gate(n_features=n_features), weights, biases, BIAS)


def make_rows_expansion(dtype=np.float64, n_support=N_SUPPORT):
    rng = np.random.default_rng(8)
    gate = Clipped(make_components(dtype, n_support=6, owners=(0, 1)), floor=0.05)
    support = rng.standard_normal((n_support, N_FEATURES)).astype(dtype)
    expansion = KernelExpansion(
        (PairwiseNormalizedSum((Gaussian(GAMMA), Linear()), N_FEATURES),),
        with_gates(support, gate(support)),
        rng.standard_normal((1, n_support, 1)).astype(dtype),
        np.array([BIAS], dtype=dtype),
        N_FEATURES,
    )
    return on_gated_rows(gate, expansion)


MAKERS = {
    "expansion": lambda dtype=np.float64: GatedExpansion(make_gate(), make_components(dtype), BIAS),
    "vote": lambda dtype=np.float64: vote(make_gate(), make_components(dtype)),
    "selection": lambda dtype=np.float64: selected_sum(make_components(dtype), 1, BIAS),
    "rows": make_rows_expansion,
    "linear": make_linear,
}
each_predictor = pytest.mark.parametrize("name", MAKERS)
each_dtype = pytest.mark.parametrize("dtype", [np.float32, np.float64])
each_form = pytest.mark.parametrize("as_rows", [np.asarray, csr_matrix], ids=["dense", "sparse"])


@pytest.fixture
def X(rng):
    rows = rng.standard_normal((30, N_FEATURES))
    rows[rows < -0.7] = 0.0
    return rows


def plain_gates(gate, x):
    parts = np.exp(gate.directions @ x + gate.offsets)
    return parts / parts.sum()


def plain_component(components, q, x):
    total = float(components.biases[q])
    for z, coefficient in zip(components.support.astype(np.float64), components.coefficients[q]):
        value = x @ z if components.owners[q] == 1 else np.exp(-GAMMA * ((x - z) ** 2).sum())
        total += coefficient * value
    return total


def plain(name, predictor, x):
    """The score of one row, from the formulas."""
    if name == "linear":
        gates = plain_gates(predictor.gate, x)
        local = [w @ x + b for w, b in zip(predictor.weights[:, :, 0], predictor.biases[:, 0])]
        return sum(g * f for g, f in zip(gates, local)) + BIAS
    if name == "rows":
        scores = [plain_component(predictor.map.gate.scores, q, x) for q in range(2)]
        left, total = np.clip(scores, 0.05, 1.0), BIAS
        coefficients = predictor.predictor.coefficients[0, :, 0]
        for row, coefficient in zip(predictor.predictor.support.astype(np.float64), coefficients):
            z, right = row[:N_FEATURES], row[N_FEATURES:]
            shares = left * right
            values = np.array([np.exp(-GAMMA * ((x - z) ** 2).sum()), x @ z])
            total += coefficient * (shares @ values) / shares.sum()
        return total
    scores = [plain_component(predictor.components, q, x) for q in range(N_COMPONENTS)]
    if name == "selection":
        return 0.5 * (max(scores) + min(scores)) + BIAS
    gates = plain_gates(predictor.gate, x)
    if name == "vote":
        return sum(g * np.tanh(f) for g, f in zip(gates, scores))
    return sum(g * f for g, f in zip(gates, scores)) + BIAS


@each_predictor
@each_dtype
def test_scores_follow_the_formula(X, name, dtype):
    predictor, rows = MAKERS[name](dtype), X.astype(dtype)
    expected = [plain(name, predictor, x) for x in rows.astype(np.float64)]
    # a few dozen terms of size ten
    np.testing.assert_allclose(predictor(rows)[:, 0], expected, atol=500 * np.finfo(dtype).eps)


@each_predictor
@each_dtype
@each_form
def test_scores_are_one_column_in_the_precision_of_the_model(X, name, dtype, as_rows):
    predictor = MAKERS[name](dtype)
    scores = predictor(as_rows(X.astype(dtype)))
    assert scores.shape == (30, 1)
    assert scores.dtype == predictor.dtype == dtype


@each_predictor
@each_dtype
def test_sparse_rows_score_as_dense_ones(X, name, dtype):
    predictor, rows = MAKERS[name](dtype), X.astype(dtype)
    np.testing.assert_allclose(
        predictor(csr_matrix(rows)), predictor(rows), atol=500 * np.finfo(dtype).eps
    )


@each_predictor
@each_form
def test_the_number_of_threads_does_not_change_a_bit(X, name, as_rows, monkeypatch):
    monkeypatch.setattr(kernel_expansion, "TILE", 7 * N_SUPPORT)
    monkeypatch.setattr(locally_linear, "DENSE_BLOCK", 7)
    predictor, rows = MAKERS[name](), as_rows(X)
    np.testing.assert_array_equal(predictor(rows, n_jobs=2), predictor(rows))


def test_blocks_of_local_linear_models_do_not_change_the_scores(X, monkeypatch):
    expected = make_linear()(X)
    monkeypatch.setattr(locally_linear, "DENSE_BLOCK", 7)
    np.testing.assert_allclose(make_linear()(X), expected, atol=1e-13)


@each_predictor
@each_form
def test_no_rows_have_no_scores(X, name, as_rows):
    assert MAKERS[name]()(as_rows(X[:0])).shape == (0, 1)


@each_form
def test_local_scores_are_what_every_linear_model_says(X, as_rows):
    predictor = make_linear()
    expected = X @ predictor.weights[:, :, 0].T + predictor.biases[:, 0]
    np.testing.assert_allclose(predictor.local(as_rows(X)), expected, atol=1e-13)


def test_votes_lie_between_minus_one_and_one(X):
    scores = MAKERS["vote"]()(100.0 * X)
    assert np.all(np.abs(scores) <= 1.0)
    assert np.abs(scores).max() > 0.9


def test_a_selection_of_all_is_the_sum_of_all(X):
    components = make_components()
    found = selected_sum(components, N_COMPONENTS, BIAS)(X)
    np.testing.assert_allclose(found[:, 0], components(X).sum(axis=1) + BIAS, atol=1e-12)


@pytest.mark.parametrize("n_selected", [1, 2, 3])
def test_a_selection_is_blended_by_its_own_scores(X, n_selected):
    components = make_components()
    scores = components(X)
    expected = (top_and_bottom(scores, n_selected) * scores).sum(axis=1) + BIAS
    found = selected_sum(components, n_selected, BIAS)(X)
    np.testing.assert_allclose(found[:, 0], expected, atol=1e-12)


def test_collapsed_linear_components_score_as_their_expansion(X, rng):
    support, coefficients = rng.standard_normal((9, N_FEATURES)), rng.standard_normal((3, 9))
    components = machines(
        (Linear(),), (0, 0, 0), support, coefficients, rng.standard_normal(3), N_FEATURES
    )
    collapsed = gated_linear(make_gate(), (coefficients @ support).T, components.biases, BIAS)
    np.testing.assert_allclose(
        collapsed(X), GatedExpansion(make_gate(), components, BIAS)(X), atol=1e-12
    )


@pytest.mark.parametrize("name", ["expansion", "vote"])
def test_a_gate_costs_a_product_for_every_parameter(name):
    alone, whole = make_components().cost, MAKERS[name]().cost
    n_parameters = N_COMPONENTS * (N_FEATURES + 1)
    assert whole.multiply_adds == alone.multiply_adds + n_parameters
    assert whole.times_linear == pytest.approx(whole.multiply_adds / N_FEATURES)
    assert whole.n_bytes == alone.n_bytes + 8 * n_parameters


def test_a_selection_costs_what_its_components_cost():
    assert MAKERS["selection"]().cost == make_components().cost


def test_cost_of_local_linear_models_counts_weights_biases_and_gate():
    cost = make_linear().cost
    n_parameters = N_COMPONENTS * (N_FEATURES + 1)
    assert cost.multiply_adds == N_COMPONENTS * (N_FEATURES + 2) + n_parameters
    assert cost.times_linear == pytest.approx(cost.multiply_adds / N_FEATURES)
    assert cost.n_bytes == 8 * (N_COMPONENTS * (N_FEATURES + 1) + n_parameters)


def test_bytes_of_a_model_in_single_precision_are_fewer():
    saved = make_linear().cost.n_bytes - make_linear(np.float32).cost.n_bytes
    assert saved == 4 * N_COMPONENTS * (N_FEATURES + 1)


def test_cost_of_local_linear_models_grows_with_the_features():
    narrow, wide = make_linear(n_features=4).cost, make_linear(n_features=8).cost
    # a weight and a direction of the gate for every component and feature
    assert wide.multiply_adds - narrow.multiply_adds == 2 * 4 * N_COMPONENTS


@in_one_test(
    "wrap",
    [Rounded, UnitLength, lambda gate: Repeated(gate, 1), lambda gate: Rounded(UnitLength(gate))],
)
def test_what_is_done_to_a_gates_values_does_not_hide_its_parameters(wrap):
    gate = make_gate()
    assert make_linear(gate=wrap(gate)).cost == make_linear(gate=gate).cost


def test_a_gate_that_sees_some_columns_costs_less():
    seeing_two = Rounded(Viewing(make_gate(n_features=2), Columns((0, 3))))
    saved = make_linear().cost.multiply_adds - make_linear(gate=seeing_two).cost.multiply_adds
    assert saved == 2 * N_COMPONENTS


@pytest.mark.parametrize(
    "make",
    [SoftmaxOf, Clipped, lambda scores: UnitLength(Clipped(scores))],
    ids=["softmax", "clipped", "unit length"],
)
def test_a_gate_of_scores_costs_what_its_scores_cost(make):
    scores, components = make_components(n_support=6), make_components()
    cost = GatedExpansion(make(scores), components, BIAS).cost
    assert cost.multiply_adds == components.cost.multiply_adds + scores.cost.multiply_adds
    assert cost.n_bytes == components.cost.n_bytes + scores.cost.n_bytes
    assert cost.times_linear == pytest.approx(cost.multiply_adds / N_FEATURES)


def test_cost_of_gated_rows_is_that_of_the_expansion_and_the_gate():
    predictor = make_rows_expansion()
    expansion, scores = predictor.predictor.cost, predictor.map.gate.scores.cost
    assert predictor.cost.multiply_adds == expansion.multiply_adds + scores.multiply_adds
    assert predictor.cost.n_bytes == expansion.n_bytes + scores.n_bytes
    assert predictor.cost.times_linear == pytest.approx(predictor.cost.multiply_adds / N_FEATURES)


def test_a_function_of_the_user_as_a_gate_counts_as_free():
    def gate(X):
        return np.full((X.shape[0], N_COMPONENTS), 1.0 / N_COMPONENTS)

    assert vote(gate, make_components()).cost == make_components().cost


EMPTY = {
    "expansion": lambda: GatedExpansion(make_gate(), make_components(n_support=0), BIAS),
    "vote": lambda: vote(make_gate(), make_components(n_support=0)),
    "selection": lambda: selected_sum(make_components(n_support=0), 1, BIAS),
    "rows": lambda: make_rows_expansion(n_support=0),
}


@pytest.mark.parametrize("name", EMPTY)
def test_a_machine_without_support_rows_scores_from_its_biases(X, name):
    predictor = EMPTY[name]()
    expected = [plain(name, predictor, x) for x in X]
    np.testing.assert_allclose(predictor(X)[:, 0], expected, atol=1e-12)


@pytest.mark.parametrize("name", EMPTY)
def test_a_machine_without_support_rows_costs_what_its_gate_costs(name):
    # all targets within ε leave a regression without support
    predictor = EMPTY[name]()
    work = 3 * (N_FEATURES + 1)
    if name == "selection":
        work = 0
    elif name == "rows":
        work = predictor.map.gate.scores.cost.multiply_adds
    assert predictor.cost.multiply_adds == work
    assert predictor.cost.times_linear == pytest.approx(work / N_FEATURES)


OUTPUTS = ("linear", "vote", "expansion")


@each_dtype
@each_form
def test_stacked_outputs_stand_side_by_side(X, dtype, as_rows):
    outputs = tuple(MAKERS[name](dtype) for name in OUTPUTS)
    rows = as_rows(X.astype(dtype))
    scores = Stacked(outputs)(rows)
    assert scores.shape == (30, 3)
    assert scores.dtype == Stacked(outputs).dtype == dtype
    for k, output in enumerate(outputs):
        np.testing.assert_array_equal(scores[:, [k]], output(rows))


def test_threads_do_not_change_a_bit_of_stacked_outputs(X, monkeypatch):
    monkeypatch.setattr(locally_linear, "DENSE_BLOCK", 7)
    stacked = Stacked(tuple(MAKERS[name]() for name in OUTPUTS))
    np.testing.assert_array_equal(stacked(X, n_jobs=2), stacked(X))


def test_cost_of_stacked_outputs_is_the_sum_and_stays_a_multiple_of_as_many_linear_models():
    outputs = [MAKERS[name]() for name in OUTPUTS]
    cost = Stacked(tuple(outputs)).cost
    assert cost.multiply_adds == sum(output.cost.multiply_adds for output in outputs)
    assert cost.n_bytes == sum(output.cost.n_bytes for output in outputs)
    assert cost.times_linear == pytest.approx(cost.multiply_adds / (3 * N_FEATURES))


class Counting:
    """A kernel that counts the values it gives."""

    def __init__(self, kernel):
        self.kernel, self.count = kernel, 0

    def from_pairs(self, pairs):
        values = self.kernel.from_pairs(pairs)
        self.count += values.size
        return values


@in_one_test("form", [np.asarray, csr_matrix])
@in_one_test("dtype", [np.float64, np.float32])
def test_support_rows_of_other_regions_are_not_evaluated_and_no_bit_changes(form, dtype):
    rng = np.random.default_rng(9)
    X, Z = (rng.uniform(-3.0, 3.0, (n, N_FEATURES)).astype(dtype) for n in (700, 1500))
    gate = Rounded(Softmax(8.0 * np.eye(3, N_FEATURES), np.zeros(3)))
    coefficients = rng.standard_normal((3, len(Z))) * gate(Z).T
    kernels = [Counting(Gaussian(gamma)) for gamma in (0.1, 0.5, 2.0)]
    components = KernelExpansion.of_machines(
        kernels, range(3), Z, coefficients, np.arange(3.0), N_FEATURES
    )
    predictor = GatedExpansion(gate, components, BIAS)

    gates = gate(form(X))
    plain = (np.einsum("iq,iq->i", gates, components(form(X))) + BIAS).astype(dtype)
    for kernel in kernels:
        kernel.count = 0
    found = predictor(form(X))[:, 0]
    count = sum(kernel.count for kernel in kernels)
    needed = (gates != 0.0).sum(axis=0) @ (components.coefficients != 0.0).sum(axis=1)
    np.testing.assert_array_equal(found, plain)
    assert needed <= count < 0.5 * 3 * len(X) * len(Z)
    np.testing.assert_allclose(predictor(form(X[:1]))[0, 0], plain[0], rtol=1e-4)
