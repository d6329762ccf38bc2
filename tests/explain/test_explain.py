"""Explanations against the definition of every predictor, term by term."""

from dataclasses import replace

import numpy as np
import pytest
from grids import in_one_test
from numpy.testing import assert_allclose, assert_array_equal
from runtime import crafted
from scipy.sparse import csr_matrix, random_array
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import StandardScaler
from small_predictors import (
    additive,
    averaged,
    gated_linear,
    hinges,
    machines,
    mean_of,
    on_gated_rows,
    selected_sum,
    vote,
)

import nearlinear
from nearlinear.explain import conformal as explanation_conformal
from nearlinear.explain import kernels as explanation_kernels
from nearlinear.explain import linear as explanation_linear
from nearlinear.explain.explain import explain
from nearlinear.gates.anchors import InverseDistance, ReconstructionCodes, SoftAssignment
from nearlinear.gates.learned import Rounded, Softmax
from nearlinear.gates.scores import Clipped, SoftmaxOf, top_and_bottom
from nearlinear.gates.trees.node_gates import NODE_GATES
from nearlinear.kernels import Gaussian, Linear
from nearlinear.kernels.composite import PairwiseNormalizedSum
from nearlinear.kernels.conformal import PROFILES
from nearlinear.kernels.gated_grams import with_gates
from nearlinear.kernels.standard import Precomputed
from nearlinear.maps import Affine
from nearlinear.predictors.combined import Mapped, Stacked, tree_predictor
from nearlinear.predictors.conformal_linear import ConformalLinear
from nearlinear.predictors.gated_expansion import GatedExpansion
from nearlinear.predictors.kernel_expansion import KernelExpansion
from nearlinear.predictors.locally_linear import LocallyLinear
from nearlinear.predictors.neighborhood_svm import NeighborhoodSVM
from nearlinear.runtime.outcome import averaged_scores

pytestmark = pytest.mark.passes
each_gate = pytest.mark.parametrize("gate", [SoftAssignment, InverseDistance, ReconstructionCodes])
each_feature = pytest.mark.parametrize("node_gate", NODE_GATES)
each_size = pytest.mark.parametrize("n_outputs", [1, 3], ids=["one output", "three outputs"])
each_profile = pytest.mark.parametrize("profile", PROFILES)
each_reach = pytest.mark.parametrize("per_feature", [False, True], ids=["whole", "per feature"])
D, OWNERS = 4, (1, 0, 1)


def draw(seed, *size, dtype=np.float64):
    return np.random.default_rng(seed).standard_normal(size).astype(dtype)


def make_anchored(gate=SoftAssignment, n_outputs=3, dtype=np.float64, width=D):
    numbers = [0.4] if gate is SoftAssignment else []
    chosen = gate(draw(0, 9, D, dtype=dtype), 3, *numbers)
    return LocallyLinear(
        chosen, draw(1, 9, width, n_outputs, dtype=dtype), draw(2, 9, n_outputs, dtype=dtype)
    )


def make_tree(node_gate="tanh", n_outputs=1, depth=3, dtype=np.float64, n_features=D, seed=0):
    kind, n_nodes = NODE_GATES[node_gate](), 2 ** (depth + 1) - 1
    n_splits, n_slopes = kind.direction_rows(n_nodes)
    return tree_predictor(
        draw(seed, n_splits, n_features + 1, dtype=dtype),
        draw(seed + 1, n_slopes, n_features + 1, dtype=dtype),
        draw(seed + 2, n_nodes, n_outputs, n_features + 1, dtype=dtype),
        draw(seed + 3, n_outputs, dtype=dtype), kind,
    )  # fmt: skip


def make_projected(node_gate, dtype=np.float64):
    tree = make_tree(node_gate, n_features=2, n_outputs=3, dtype=dtype)
    return Mapped(Affine(draw(9, 2, D + 1, dtype=dtype)), tree)


def make_conformal(profile="gaussian", per_feature=False, dtype=np.float64, n_outputs=3):
    """Kernels of several terms, of one, and of none."""
    terms = [(k, o) for k in range(5) for o in range(n_outputs) if k != 2 and (k + o) % 3]
    kernels, outputs = np.array(terms).T
    return ConformalLinear(
        draw(3, 5, D, dtype=dtype), np.linspace(0.1, 0.5, 5, dtype=dtype),
        draw(4, len(terms), D, dtype=dtype), kernels, outputs, draw(5, n_outputs, dtype=dtype),
        profile, per_feature,
    )  # fmt: skip


def make_gated(seed=0, dtype=np.float64):
    gate = Rounded(Softmax(draw(seed, 3, D), draw(seed + 1, 3)), 0.05)
    weights, biases = draw(seed + 2, D, 3, dtype=dtype), draw(seed + 3, 3, dtype=dtype)
    return gated_linear(gate, weights, biases, 0.7)


def make_expansion(dtype=np.float64, n_outputs=3, n_support=20):
    return KernelExpansion(
        (Gaussian(0.3), Linear()), draw(6, n_support, D, dtype=dtype),
        draw(7, 2, n_support, n_outputs, dtype=dtype), draw(8, n_outputs, dtype=dtype), D,
    )  # fmt: skip


def make_components(dtype=np.float64, seed=10):
    return machines(
        (Gaussian(0.3), Linear()), OWNERS, draw(seed, 20, D, dtype=dtype),
        0.2 * draw(seed + 1, 3, 20, dtype=dtype), draw(seed + 2, 3, dtype=dtype), D,
    )  # fmt: skip


def make_blend(kind, seed=10, dtype=np.float64):
    components = make_components(dtype, seed)
    if kind == "selected":
        return selected_sum(components, 2, 0.7)
    gate = SoftmaxOf(make_components(dtype, seed + 5))
    return vote(gate, components) if kind == "vote" else GatedExpansion(gate, components, 0.7)


def make_pairwise(dtype=np.float64):
    gate = Clipped(make_components(dtype, 30), 0.05)
    support = draw(20, 15, D, dtype=dtype)
    kernel = PairwiseNormalizedSum((Gaussian(0.3), Linear(), Gaussian(2.0)), D)
    expansion = KernelExpansion(
        (kernel,), with_gates(support, gate(support)), draw(21, 1, 15, 1, dtype=dtype),
        np.array([0.7], dtype=dtype), D,
    )  # fmt: skip
    return on_gated_rows(gate, expansion)


LINEAR = {
    "anchors": make_anchored,
    "constants around anchors": lambda dtype=np.float64: make_anchored(width=0, dtype=dtype),
    "tree": lambda dtype=np.float64: make_tree(dtype=dtype),
    "tree of classes": lambda dtype=np.float64: make_tree(n_outputs=3, dtype=dtype),
    "projected tree": lambda dtype=np.float64: make_projected("tanh", dtype),
    "forest": lambda dtype=np.float64: mean_of(
        *(make_tree(seed=10 * s, dtype=dtype) for s in range(3))
    ),
    "additive": lambda dtype=np.float64: additive(D, 3, dtype=dtype),
    "hinges": lambda dtype=np.float64: hinges(D, 3, dtype=dtype),
    "average of two classes": lambda dtype=np.float64: averaged(D, 1, dtype),
    "average of classes": lambda dtype=np.float64: averaged(
        D, 3, dtype, make_anchored(dtype=dtype)
    ),
    "conformal": make_conformal,
    "conformal per feature": lambda dtype=np.float64: make_conformal("linear", True, dtype),
    "gated": lambda dtype=np.float64: make_gated(dtype=dtype),
    "stacked": lambda dtype=np.float64: Stacked(tuple(make_gated(s, dtype) for s in (0, 20))),
}
KERNELS = {
    "expansion": make_expansion,
    "components": make_components,
    "pairwise": make_pairwise,
    "sum": lambda dtype=np.float64: make_blend("sum", dtype=dtype),
    "vote": lambda dtype=np.float64: make_blend("vote", dtype=dtype),
    "selected": lambda dtype=np.float64: make_blend("selected", dtype=dtype),
    "stacked": lambda dtype=np.float64: Stacked(
        tuple(make_blend("vote", seed, dtype) for seed in (10, 40))
    ),
}
each_linear = pytest.mark.parametrize("make", LINEAR.values(), ids=LINEAR)
each_kernel = pytest.mark.parametrize("make", KERNELS.values(), ids=KERNELS)
each_kind = pytest.mark.parametrize(
    "make",
    [*LINEAR.values(), *KERNELS.values()],
    ids=[*LINEAR, *(f"kernels: {name}" for name in KERNELS)],
)


def rows(n_rows=50, dtype=np.float64, n_features=D):
    return draw(99, n_rows, n_features, dtype=dtype)


def parts_of(found):
    return found.kernel_shares if found.coefficients is None else found.contributions


def assert_adds_up(found, scores, tolerance):
    """Relative to the numbers that are added; those of a gate's models are about one."""
    parts = parts_of(found)
    size = np.maximum(np.abs(parts).sum(axis=2) + np.abs(found.intercepts), 1.0)
    if found.support is not None:
        size = np.maximum(size, np.abs(found.support.parts).sum(axis=2))
    assert_allclose((parts.sum(axis=2) + found.intercepts - scores) / size, 0.0, atol=tolerance)
    assert_allclose((found.scores - scores) / size, 0.0, atol=tolerance)


@each_kind
def test_parts_add_up_to_the_scores(make):
    X, predictor = rows(), make()
    assert_adds_up(explain(predictor, X, n_support=20), predictor(X), 1e-14)


@in_one_test("make", [*LINEAR.values(), *KERNELS.values()])
def test_float32_is_told_in_float64_and_adds_up_to_its_rounding(make):
    X, predictor = rows(dtype=np.float32), make(dtype=np.float32)
    found = explain(predictor, X, n_support=20)
    assert parts_of(found).dtype == found.intercepts.dtype == np.float64
    assert_adds_up(found, predictor(X), 2e-6)


def test_a_kernel_machine_in_an_average_has_shares_of_its_kernels():
    X, machine = rows(), make_blend("vote")
    predictor = averaged(D, first=machine)
    found = explain(predictor, X)
    assert found.kernel_shares.shape[2] == machine.components.n_outputs + 4
    assert_adds_up(found, predictor(X), 1e-14)


@each_size
def test_contributions_to_a_mean_of_probabilities_are_slopes_times_the_members(n_outputs):
    """The slopes are those of the score on the way from the intercepts to the scores."""
    X, predictor = rows(20), averaged(D, n_outputs)
    found, members = explain(predictor, X), [explain(one, X) for one in predictor.members]

    def score(along):
        scores = [one.intercepts + along * (one.scores - one.intercepts) for one in members]
        return averaged_scores(predictor.calibrations, predictor.weights, scores)

    # what the columns add together is what the way adds
    assert_allclose(found.contributions.sum(axis=2), score(1.0) - score(0.0), atol=1e-7)
    assert_allclose(found.intercepts, score(0.0), atol=1e-7)
    # near the intercepts a step is a derivative: the members' parts times the slopes of the score
    near = [replace(one, weights=1e-4 * one.weights, values=0 * one.values)
            for one in predictor.members]  # fmt: skip
    near = replace(predictor, members=tuple(near))
    changed = [near(X + step) - near(X - step) for step in 0.5 * np.eye(D)]
    assert_allclose(explain(near, X).coefficients, np.stack(changed, axis=2), atol=1e-8)


# --- local linear models ------------------------------------------------------------------------


@each_gate
@each_size
def test_anchors_blend_their_models_by_the_gate(gate, n_outputs):
    X, predictor = rows(), make_anchored(gate, n_outputs)
    found, values = explain(predictor, X), predictor.gate(X)
    assert_allclose(
        found.coefficients, np.einsum("ij,jdo->iod", values, predictor.weights), atol=1e-13
    )
    assert_allclose(found.intercepts, values @ predictor.biases, atol=1e-13)
    assert_array_equal(np.take_along_axis(values, found.active, axis=1), found.gates)
    assert found.component == "anchor"


def test_constants_around_anchors_are_all_intercept():
    X, predictor = rows(), make_anchored(width=0)
    found = explain(predictor, X)
    assert found.coefficients.shape == (50, 3, D)
    assert not found.coefficients.any()
    assert_allclose(found.intercepts, predictor(X), atol=1e-14)


def tree_models(node_gate, n_outputs, depth):
    """Splits, slopes and the models of all nodes, whatever the feature keeps of them."""
    n_nodes = 2 ** (depth + 1) - 1
    n_splits, n_slopes = NODE_GATES[node_gate]().direction_rows(n_nodes)
    return draw(0, n_splits, D + 1), draw(1, n_slopes, D + 1), draw(2, n_nodes, n_outputs, D + 1)


@each_feature
@each_size
@pytest.mark.parametrize("depth", [0, 1, 3])
def test_trees_add_up_the_models_along_the_path(node_gate, n_outputs, depth):
    predictor, X = make_tree(node_gate, n_outputs, depth), rows(20)
    splits, slopes, models = tree_models(node_gate, n_outputs, depth)
    found = explain(predictor, X)
    for i, z in enumerate(np.column_stack([X, np.ones(len(X))])):
        node, above, total = 0, 1.0, np.zeros((n_outputs, D + 1))
        for level in range(depth + 1):
            if node_gate == "tanh":
                above = np.tanh(slopes[node] @ z)
            elif node_gate == "compositional":
                above = np.tanh(above * (splits[node] @ z))
            assert found.active[i, level] == node
            assert found.gates[i, level] == pytest.approx(above, abs=1e-13)
            total += above * models[node]
            if level < depth:
                node = 2 * node + (1 if splits[node] @ z > 0 else 2)
        assert_allclose(found.coefficients[i], total[:, :-1], atol=1e-12)
        assert_allclose(found.intercepts[i], total[:, -1] + predictor.intercept, atol=1e-12)
    assert found.component == "node"


@each_feature
def test_a_projection_is_carried_back_to_the_features(node_gate):
    predictor, X = make_projected(node_gate), rows()
    inner, projection = predictor.predictor, predictor.map.matrix
    below = explain(inner, predictor.map(X))
    found = explain(predictor, X)
    assert_allclose(found.coefficients, below.coefficients @ projection[:, :-1], atol=1e-12)
    expected = below.intercepts + below.coefficients @ projection[:, -1]
    assert_allclose(found.intercepts, expected, atol=1e-12)


def test_a_forest_is_the_mean_of_its_trees_and_keeps_their_paths():
    forest, X = LINEAR["forest"](), rows()
    found, trees = explain(forest, X), [explain(tree, X) for tree in forest.members]
    expected = np.mean([tree.coefficients for tree in trees], axis=0)
    assert_allclose(found.coefficients, expected, atol=1e-14)
    assert_array_equal(found.active, np.stack([tree.active for tree in trees], axis=1))
    assert_array_equal(found.gates, np.stack([tree.gates for tree in trees], axis=1))


@each_feature
@pytest.mark.parametrize(("n_features", "n_outputs"), [(D, 1), (D, 3), (110, 1)])
def test_rows_on_a_border_go_where_prediction_sends_them(node_gate, n_features, n_outputs):
    # in float32 another order of summation takes some of these rows to the other side
    predictor = make_tree(node_gate, n_outputs, 4, np.float32, n_features)
    X = rows(400, np.float32, n_features)
    nodes = predictor.paths(X)[np.arange(400), np.arange(400) % 4]
    normals = predictor.splits[nodes].astype(np.float64)
    for _ in range(3):
        turns = (normals[:, :-1] * X).sum(axis=1) + normals[:, -1]
        X -= (turns / (normals[:, :-1] ** 2).sum(axis=1))[:, None] * normals[:, :-1]
    found, scores = explain(predictor, X), predictor(X)
    size = np.abs(found.contributions).sum(axis=2) + np.abs(found.intercepts)
    assert_allclose((found.scores - scores) / size, 0.0, atol=1e-5)


@each_profile
@each_reach
def test_conformal_terms_are_blended_by_h(profile, per_feature):
    predictor, X = make_conformal(profile, per_feature), 1.5 * rows(150)
    coefficients = np.zeros((150, 3, D))
    intercepts = np.tile(predictor.biases, (150, 1))
    for k, o, w in zip(predictor.kernels, predictor.outputs, predictor.weights):
        squares = (X - predictor.anchors[k]) ** 2
        if not per_feature:
            squares = squares.sum(axis=1, keepdims=True)
        h = PROFILES[profile].values(squares, predictor.gammas[k])
        coefficients[:, o] += h * w
        intercepts[:, o] -= (h * w * predictor.anchors[k]).sum(axis=1)
    found = explain(predictor, X)
    assert_allclose(found.coefficients, coefficients, atol=1e-14)
    assert_allclose(found.intercepts, intercepts, atol=1e-14)
    assert_allclose(found.gates.max(axis=1), predictor.support_score(X), atol=1e-14)
    assert found.component == "kernel"


def test_far_from_all_kernels_nothing_but_the_bias_is_left():
    predictor = make_conformal("gaussian", True)
    found = explain(predictor, 1e3 + rows(3))
    assert not found.coefficients.any()
    assert_array_equal(found.intercepts, np.tile(predictor.biases, (3, 1)))


def test_per_feature_coefficients_depend_on_their_own_feature_only():
    predictor, X = make_conformal("exponential", True), rows()
    moved = X.copy()
    moved[:, 0] += 1.0
    before, after = explain(predictor, X).coefficients, explain(predictor, moved).coefficients
    assert np.abs(after - before)[:, :, 0].max() > 0.1
    assert_array_equal(after[:, :, 1:], before[:, :, 1:])


def test_gated_models_are_blended_by_their_gate():
    predictor, X = make_gated(), rows()
    found, gates = explain(predictor, X), predictor.gate(X)
    assert_array_equal(found.gates, gates)
    assert_array_equal(found.active, np.tile(np.arange(3), (50, 1)))
    assert_allclose(found.coefficients[:, 0], gates @ predictor.weights[:, :, 0], atol=1e-14)
    assert_allclose(found.intercepts[:, 0], gates @ predictor.biases[:, 0] + 0.7, atol=1e-14)


def test_stacked_outputs_keep_gates_of_their_own():
    predictor, X = LINEAR["stacked"](), rows()
    found = explain(predictor, X)
    for o, output in enumerate(predictor.outputs):
        assert_array_equal(found.gates[:, o], output.gate(X))
        assert_array_equal(found.coefficients[:, o], explain(output, X).coefficients[:, 0])


# --- kernel machines ----------------------------------------------------------------------------


def test_shares_are_the_sums_of_every_kernel():
    predictor, X = make_expansion(), rows()
    found = explain(predictor, X)
    for m, kernel in enumerate(predictor.kernels):
        expected = kernel(X, predictor.support) @ predictor.coefficients[m]
        assert_allclose(found.kernel_shares[:, :, m], expected, atol=1e-12)
    assert_array_equal(found.intercepts, np.tile(predictor.biases, (50, 1)))
    assert found.coefficients is None and found.contributions is None and found.gates is None


def test_components_have_shares_in_their_own_kernel_only():
    predictor, X = make_components(), rows()
    shares = explain(predictor, X).kernel_shares
    for q, owner in enumerate(OWNERS):
        assert not shares[:, q, 1 - owner].any()
        assert_allclose(shares[:, q, owner] + predictor.biases[q], predictor(X)[:, q], atol=1e-12)


def test_gated_components_share_by_gate_vote_or_selection():
    X, components = rows(), make_components()
    scores, gates = components(X), SoftmaxOf(make_components(seed=15))(X)
    chosen = top_and_bottom(scores, 2)
    expected = {
        "sum": (gates, gates * scores),
        "vote": (gates, gates * np.tanh(scores)),
        "selected": (chosen, chosen * scores),
    }
    for kind, (values, shares) in expected.items():
        found = explain(make_blend(kind), X)
        assert_allclose(found.gates, values, atol=1e-14)
        assert_allclose(found.kernel_shares[:, 0], shares, atol=1e-12)
        assert_array_equal(found.intercepts, np.full((50, 1), 0.0 if kind == "vote" else 0.7))


def test_pairwise_kernels_share_what_their_numerators_do():
    predictor, X = make_pairwise(), rows(5)
    found, support = explain(predictor, X), predictor.predictor.support
    left, right = predictor.map.gate(X), support[:, D:]
    for m, kernel in enumerate(predictor.predictor.kernels[0].kernels):
        gram = left[:, m, None] * kernel(X, support[:, :D]) * right[:, m] / (left @ right.T)
        expected = gram @ predictor.predictor.coefficients[0]
        assert_allclose(found.kernel_shares[:, :, m], expected, atol=1e-13)
    assert_array_equal(found.gates, left)


@each_kernel
def test_parts_of_all_support_rows_make_up_the_score(make):
    X, predictor = rows(), make()
    found = explain(predictor, X, n_support=20)
    total = found.support.parts.sum(axis=2) + found.intercepts
    first = getattr(predictor, "outputs", (predictor,))[0]
    if isinstance(first, GatedExpansion):
        # components have biases of their own, which belong to no row
        outputs = getattr(predictor, "outputs", (predictor,))
        gates = found.gates.reshape(50, len(outputs), -1)
        for o, output in enumerate(outputs):
            scores = output.components(X)
            scale = np.tanh(scores) / scores if output.activation == "tanh" else 1.0
            total[:, o] += (gates[:, o] * scale * output.components.biases).sum(axis=1)
    assert_allclose(total, predictor(X), atol=1e-12)


@each_kernel
def test_most_influential_support_rows_come_first(make):
    X, predictor = rows(), make()
    everything, few = explain(predictor, X, 20).support, explain(predictor, X, 3).support
    sizes = np.abs(everything.parts)
    assert np.all(np.diff(sizes, axis=2) <= 0)
    assert_array_equal(few.indices, everything.indices[:, :, :3])
    assert_array_equal(few.parts, everything.parts[:, :, :3])


def test_a_support_row_is_named_by_its_number():
    predictor, X = make_expansion(n_outputs=1), rows(1)
    grams = [kernel(X, predictor.support)[0] for kernel in predictor.kernels]
    parts = sum(gram * c[:, 0] for gram, c in zip(grams, predictor.coefficients))
    found = explain(predictor, X, 1).support
    assert found.indices[0, 0, 0] == np.abs(parts).argmax()
    assert_allclose(found.parts[0, 0, 0], parts[found.indices[0, 0, 0]], rtol=1e-12)


@pytest.mark.parametrize("n_support", [0, 2])
def test_missing_support_rows_are_marked(n_support):
    predictor, X = make_expansion(n_support=n_support), rows(3)
    found = explain(predictor, X, 4)
    assert found.support.indices.shape == (3, 3, 4)
    assert np.all(found.support.indices[:, :, n_support:] == -1)
    assert not found.support.parts[:, :, n_support:].any()
    assert_allclose(found.scores, predictor(X), atol=1e-13)


def test_precomputed_kernels_are_told_apart():
    stack = draw(1, 6, 10, 2)
    predictor = KernelExpansion(
        (Precomputed(0), Precomputed(1)), np.array([[2], [7]]), draw(2, 2, 2, 1), draw(3, 1), 10
    )
    found = explain(predictor, stack)
    expected = np.einsum("ijm,mjo->iom", stack[:, [2, 7]], predictor.coefficients)
    assert_allclose(found.kernel_shares, expected, atol=1e-14)
    assert_allclose(found.scores, predictor(stack), atol=1e-14)


# --- rows and blocks ----------------------------------------------------------------------------


@in_one_test("make", [*LINEAR.values(), *KERNELS.values()])
def test_blocks_and_threads_change_nothing(make, monkeypatch):
    X, predictor = rows(300), make()
    whole = explain(predictor, X)
    monkeypatch.setattr(explanation_linear, "rows_per_block", lambda n_features: 64)
    monkeypatch.setattr(explanation_linear, "DENSE_BLOCK", 64)
    monkeypatch.setattr(explanation_conformal, "_BLOCK_NUMBERS", 1)
    monkeypatch.setattr(explanation_kernels, "_BLOCK_NUMBERS", 64)
    parts = explain(predictor, X, n_jobs=2)
    assert_allclose(parts_of(parts), parts_of(whole), rtol=1e-12, atol=1e-12)
    assert_allclose(parts.scores, whole.scores, rtol=1e-11, atol=1e-11)


SPARSE = [name for name in LINEAR if not name.startswith("conformal")]


@pytest.mark.parametrize("name", SPARSE)
def test_sparse_rows_are_explained_as_dense_ones(name):
    X = random_array((40, D), density=0.5, rng=np.random.default_rng(0), format="csr")
    found = explain(LINEAR[name](), csr_matrix(X))
    expected = explain(LINEAR[name](), X.toarray())
    assert_array_equal(found.active, expected.active)
    assert_allclose(found.contributions, expected.contributions, atol=1e-12)
    assert_allclose(found.intercepts, expected.intercepts, atol=1e-12)


def test_sparse_rows_of_trees_with_other_features_are_explained():
    X = random_array((40, D), density=0.5, rng=np.random.default_rng(0), format="csr")
    for predictor in (make_tree("indicator"), make_tree("compositional", 3)):
        found, expected = explain(predictor, csr_matrix(X)), explain(predictor, X.toarray())
        assert_array_equal(found.gates.shape, expected.gates.shape)
        assert_allclose(found.coefficients, expected.coefficients, atol=1e-12)


@each_kernel
def test_sparse_rows_of_kernel_machines_are_explained(make):
    X, predictor = csr_matrix(rows() * (rows() > 0)), make()
    assert_allclose(explain(predictor, X).scores, predictor(X), atol=1e-12)


def test_too_many_sparse_rows_are_refused_with_a_number_that_works(monkeypatch):
    monkeypatch.setattr(explanation_linear, "_MOST_NUMBERS", 100)
    X = csr_matrix(rows(9))
    with pytest.raises(ValueError, match=r"9 sparse rows .* at most 8 rows at a time"):
        explain(make_anchored(), X)
    assert explain(make_anchored(), X[:8]).coefficients.shape == (8, 3, D)


@each_linear
def test_explanations_do_not_change_with_the_callers_rows(make):
    X = rows()
    found, expected = explain(make(), X), explain(make(), X.copy()).contributions
    X[...] = 0.0
    assert_array_equal(found.contributions, expected)


def test_gating_columns_can_be_left_out():
    predictor, X = make_gated(), rows()
    predictor.weights[:, 2:] = 0.0  # what only the gate sees
    found = explain(predictor, X).on_first_features(2)
    assert found.coefficients.shape == (50, 1, 2)
    assert_allclose(found.scores, predictor(X), atol=1e-13)


# --- units, and what is refused -----------------------------------------------------------------


@each_linear
@pytest.mark.parametrize(("with_mean", "with_std"), [(1, 1), (0, 1), (1, 0), (0, 0)])
def test_original_units_tell_the_same_scores_of_raw_rows(make, with_mean, with_std):
    raw = 5.0 + np.array([1.0, 100.0, 0.01, 7.0]) * rows()
    scaler = StandardScaler(with_mean=bool(with_mean), with_std=bool(with_std)).fit(raw)
    scaled = explain(make(), scaler.transform(raw))
    found = scaled.in_original_units(scaler)
    assert_allclose(found.rows, raw, rtol=1e-12)
    assert_allclose(found.contributions, found.coefficients * raw[:, None], rtol=1e-11)
    size = np.abs(found.contributions).sum(axis=2) + np.abs(found.intercepts)
    assert_allclose((found.scores - scaled.scores) / size, 0.0, atol=1e-14)
    if with_std:
        assert_allclose(found.coefficients * scaler.scale_, scaled.coefficients, rtol=1e-12)
    assert_array_equal(found.gates, scaled.gates)


def test_kernel_shares_have_no_units():
    found = explain(make_expansion(), rows())
    assert found.in_original_units(StandardScaler().fit(rows())) is found


def test_units_need_the_scaler_that_made_the_rows():
    found = explain(make_gated(), rows())
    with pytest.raises(TypeError, match=r"with rows= principal components, not PCA"):
        found.in_original_units(PCA().fit(rows()))
    with pytest.raises(NotFittedError):
        found.in_original_units(StandardScaler())
    with pytest.raises(ValueError, match=r"fitted to 3 features .* have 4"):
        found.in_original_units(StandardScaler().fit(rows(n_features=3)))


@in_one_test("n_support", [-1, 2.0, True, None])
def test_a_strange_number_of_support_rows_is_refused(n_support):
    with pytest.raises(ValueError, match=r"n_support=.* whole number"):
        explain(make_expansion(), rows(), n_support)


def test_what_has_no_parts_is_refused():
    X = rows()
    labels, ones = (X[:, 0] > 0).astype(np.int64), np.ones(50)
    neighbors = NeighborhoodSVM(X, labels, ones, 2, 5, 0.0, 1e-3)
    with pytest.raises(TypeError, match="SVM-KNN trains a new machine around every row"):
        explain(neighbors, X)
    with pytest.raises(TypeError, match="holds a function"):
        explain(rows, X)


def test_it_says_what_it_holds():
    told = repr(explain(make_gated(), rows()))
    assert told.startswith("Explanation of 50 rows (intercepts (50, 1), coefficients (50, 1, 4)")
    assert "kernel_shares" not in told


def test_outputs_of_several_kinds_are_refused_in_a_sentence(tmp_path):
    (tmp_path / "model.nlm").write_bytes(crafted.file_of("stacked"))
    model = nearlinear.load(tmp_path / "model.nlm")
    with pytest.raises(ValueError, match="outputs are of several kinds"):
        model.explain(np.zeros((2, crafted.N_FEATURES)))
