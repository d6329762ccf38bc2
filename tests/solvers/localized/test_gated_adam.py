"""Gate and local linear models by mini-batches: gradients, and optima of known machines."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.sparse import csr_matrix
from sklearn.datasets import make_moons
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from nearlinear.gates.learned import GaussianGate, Sigmoid, Softmax
from nearlinear.kernels.affine import AffineMap
from nearlinear.losses import LOSSES, EpsilonInsensitive
from nearlinear.solvers.localized import gate as gated_adam
from nearlinear.solvers.localized.gate import learn_gated_models

N_ROWS = 60
MAPS = [
    AffineMap(np.array([1.0, 0.3]), 0.5),
    AffineMap(np.array([0.2, 2.0]), 0.0),
    AffineMap(np.array([1.5, 0.7]), 2.0),
]
HINGE, TUBE = LOSSES["hinge"], EpsilonInsensitive(0.1)
EACH_LOSS = pytest.mark.parametrize("loss", [HINGE, TUBE], ids=["hinge", "tube"])
EACH_GATE = pytest.mark.parametrize(
    "gate", [Softmax(), Sigmoid(), GaussianGate()], ids=["softmax", "sigmoid", "gaussian"]
)


@dataclass(frozen=True)
class Fixed:
    """A gate with nothing to learn: the sign of the first column shares out the rows."""

    n_components: int = 2
    parameters = np.zeros(0)

    def __call__(self, X):
        first = np.asarray(X[:, [0]].todense() if hasattr(X, "todense") else X[:, [0]]).ravel()
        share = 0.2 + 0.6 * (first > 0)
        return np.ones((len(first), 1)) if self.n_components == 1 else np.c_[share, 1 - share]

    def with_parameters(self, parameters):
        return self


@pytest.fixture(scope="module")
def rows():
    X, y = make_moons(N_ROWS, noise=0.25, random_state=0)
    return StandardScaler().fit_transform(X), 2.0 * y - 1.0


def learn(X, targets, C, gate, maps, loss=HINGE, **settings):
    options = {
        "penalty": 0.3,
        "max_epochs": 3,
        "batch_size": 16,
        "learning_rate": 0.03,
        "rng": np.random.RandomState(0),
    }
    targets = targets.astype(X.dtype)
    return learn_gated_models(X, targets, C, gate, maps, loss, **options | settings)


def scores_of(found, X):
    return (found.gate(X) * (X @ found.weights + found.biases)).sum(axis=1) + found.bias


def objective(found, X, targets, C, loss=HINGE):
    return found.price + C @ loss.value(scores_of(found, X)[:, None], targets[:, None])


# --- gradients ---------------------------------------------------------------------------------


class Recorded:
    """In place of Adam's parameter: stands at a random place and notes the slope it is given."""

    slopes: list
    values: list

    def __init__(self, start):
        rng = np.random.default_rng(len(Recorded.values))
        # gates stay where they started
        self.value = 0.5 * rng.standard_normal(start.shape) if not start.any() else start.copy()
        self.average = self.value
        Recorded.values.append(self.value)

    def step(self, gradient, size, ridge, count):
        Recorded.slopes.append(np.asarray(gradient + ridge * self.value, dtype=float).ravel())


@EACH_GATE
@EACH_LOSS
def test_slopes_of_a_batch_of_all_rows_are_those_of_the_objective(
    rows, rng, monkeypatch, gate, loss
):
    X, y = rows
    C, penalty = rng.uniform(0.5, 3.0, N_ROWS), 0.3
    gate = gate.start(X, 3, np.random.RandomState(0))
    Recorded.slopes, Recorded.values = [], []
    monkeypatch.setattr(gated_adam, "Parameter", Recorded)
    learn(X, y, C, gate, MAPS, loss, penalty=penalty, batch_size=N_ROWS, max_epochs=1)
    sizes = [value.size for value in Recorded.values]

    def value(point):
        u, constant, bias, V = np.split(point, np.cumsum(sizes)[:-1])
        scales = np.sqrt([affine.scales for affine in MAPS]).T
        ends = np.sqrt([affine.constant for affine in MAPS])
        local = X @ (scales * u.reshape(2, 3)) + ends * constant
        scores = (gate.with_parameters(V)(X) * local).sum(axis=1) + bias
        total = 0.5 * u @ u + 0.5 * constant @ constant + 0.5 * penalty * V @ V
        total += C @ loss.value(scores[:, None], y[:, None])
        return total / C.sum()

    point = np.concatenate([start.ravel() for start in Recorded.values])
    by_differences = approx_fprime(point, value, 1e-7)
    np.testing.assert_allclose(np.concatenate(Recorded.slopes), by_differences, atol=1e-5)


def test_slopes_of_batches_add_up_to_those_of_all_rows(rows, rng, monkeypatch):
    X, y = rows
    C = rng.uniform(0.5, 3.0, N_ROWS)
    gate = Softmax().start(X, 3, np.random.RandomState(0))
    monkeypatch.setattr(gated_adam, "Parameter", Recorded)
    means = []
    for batch_size in (N_ROWS, N_ROWS // 4):
        Recorded.slopes, Recorded.values = [], []
        learn(X, y, C, gate, MAPS, batch_size=batch_size, max_epochs=1)
        steps = [
            np.concatenate(Recorded.slopes[k : k + 4]) for k in range(0, len(Recorded.slopes), 4)
        ]
        means.append(np.mean(steps, axis=0))
    assert len(steps) == 4
    np.testing.assert_allclose(means[0], means[1], atol=1e-12)


def test_a_gate_without_parameters_is_not_moved(rows):
    X, y = rows
    gate = Fixed()
    assert learn(X, y, np.ones(N_ROWS), gate, MAPS[:2]).gate is gate


# --- optima ------------------------------------------------------------------------------------


@pytest.mark.parametrize("C", [0.1, 2.0])
def test_one_component_reaches_the_support_vector_machine(rows, C):
    X, y = rows
    maps = [AffineMap(np.array([1.0, 0.25]), 1.0)]
    found = learn(
        X, y, np.full(N_ROWS, C), Fixed(1), maps, max_epochs=400, learning_rate=0.05
    )  # fmt: skip
    svc = SVC(kernel="linear", C=C, tol=1e-6).fit(X * [1.0, 0.5], y)
    norm = 0.5 * (svc.coef_**2).sum()
    best = norm + C * np.maximum(0.0, 1.0 - y * svc.decision_function(X * [1.0, 0.5])).sum()
    reached = objective(found, X, y, np.full(N_ROWS, C))
    assert best * (1 - 1e-6) <= reached <= 1.01 * best
    np.testing.assert_allclose(
        scores_of(found, X), svc.decision_function(X * [1.0, 0.5]), atol=0.15
    )


def test_a_fixed_gate_reaches_the_machine_of_its_kernel(rows, rng):
    X, y = rows
    C = rng.uniform(0.5, 2.0, N_ROWS)
    gate, maps = (
        Fixed(),
        [AffineMap(np.array([1.0, 0.5]), 1.0), AffineMap(np.array([2.0, 1.0]), 0.3)],
    )
    found = learn(X, y, C, gate, maps, max_epochs=600, learning_rate=0.05)
    gram = sum(
        np.outer(share, share) * (X * affine.scales @ X.T + affine.constant)
        for share, affine in zip(gate(X).T, maps, strict=True)
    )
    svc = SVC(kernel="precomputed", C=1.0, tol=1e-6).fit(gram, y, sample_weight=C)
    coef = np.zeros(N_ROWS)
    coef[svc.support_] = svc.dual_coef_[0]
    best = 0.5 * coef @ gram @ coef + C @ np.maximum(0.0, 1.0 - y * svc.decision_function(gram))
    assert best * (1 - 1e-6) <= objective(found, X, y, C) <= 1.01 * best
    np.testing.assert_allclose(scores_of(found, X), svc.decision_function(gram), atol=0.2)


def test_one_component_reaches_support_vector_regression(rows):
    X, _ = rows
    y = 0.7 * X[:, 0] - 0.4 * X[:, 1] + 0.3 * np.sin(3.0 * X[:, 0])
    found = learn(
        X, y, np.ones(N_ROWS), Fixed(1), [AffineMap(np.ones(2), 1.0)], TUBE, max_epochs=400,
        learning_rate=0.05,
    )  # fmt: skip
    svr = SVR(kernel="linear", C=1.0, epsilon=0.1, tol=1e-6).fit(X, y)
    best = 0.5 * (svr.coef_**2).sum()
    best += np.maximum(0.0, np.abs(y - svr.predict(X)) - 0.1).sum()
    assert best * (1 - 1e-6) <= objective(found, X, y, np.ones(N_ROWS), TUBE) <= 1.01 * best
    np.testing.assert_allclose(scores_of(found, X), svr.predict(X), atol=0.05)


@EACH_GATE
def test_learning_the_gate_lowers_the_objective(rows, gate):
    X, y = rows
    C, maps = np.full(N_ROWS, 5.0), [AffineMap(np.ones(2), 1.0)] * 3
    start = gate.start(X, 3, np.random.RandomState(0))

    @dataclass(frozen=True)
    class Frozen:
        parameters = np.zeros(0)

        def __call__(self, Z):
            return start(Z)

        def with_parameters(self, parameters):
            return self

    settings = {"max_epochs": 300, "penalty": 0.0, "learning_rate": 0.03}
    frozen, learned = (learn(X, y, C, g, maps, **settings) for g in (Frozen(), start))
    assert objective(learned, X, y, C) < 0.97 * objective(frozen, X, y, C)


def test_a_large_penalty_holds_the_gate_near_zero(rows):
    X, y = rows
    gate = Softmax().start(X, 3, np.random.RandomState(0))
    C, maps = np.full(N_ROWS, 5.0), [AffineMap(np.ones(2), 1.0)] * 3
    sizes = [
        np.abs(learn(X, y, C, gate, maps, penalty=penalty, max_epochs=300).gate.parameters).max()
        for penalty in (0.0, 1e5)
    ]
    assert sizes[1] < 0.1 < 1.0 < sizes[0]


# --- what is returned --------------------------------------------------------------------------


def test_the_price_is_half_the_squares_of_weights_before_scaling_and_of_the_gate(rows):
    X, y = rows
    gate = Softmax().start(X, 3, np.random.RandomState(0))
    found = learn(X, y, np.ones(N_ROWS), gate, MAPS, penalty=0.7)
    total = 0.7 * (found.gate.parameters**2).sum()
    for affine, w, b in zip(MAPS, found.weights.T, found.biases, strict=True):
        total += (w**2 / affine.scales).sum()
        total += b**2 / affine.constant if affine.constant else 0.0
    assert found.price == pytest.approx(0.5 * total)


def test_columns_and_constants_that_a_kernel_does_not_see_get_no_weight(rows):
    X, y = rows
    maps = [AffineMap(np.array([1.0, 0.0]), 0.0), AffineMap(np.array([0.0, 1.0]), 1.0)]
    found = learn(X, y, np.ones(N_ROWS), Fixed(), maps, max_epochs=20)
    assert found.weights.shape == (2, 2)
    assert found.weights[1, 0] == found.weights[0, 1] == found.biases[0] == 0.0
    assert np.all(found.weights.diagonal() != 0.0)


def test_the_path_has_the_mean_loss_of_every_epoch(rows):
    X, y = rows
    C, seen = np.full(N_ROWS, 4.0), []
    gate = Softmax().start(X, 3, np.random.RandomState(0))
    found = learn(
        X, y, C, gate, MAPS, max_epochs=30, batch_size=N_ROWS,
        watch=lambda progress: seen.append((progress.step, progress.objective)),
    )  # fmt: skip
    assert seen == list(enumerate(found.path, start=1))
    assert len(found.path) == 30
    assert found.path[0] == pytest.approx(1.0)  # all weights are zero
    assert found.path[-1] < 0.8


def test_heavy_rows_are_fitted_better(rows):
    X, y = rows
    noisy = np.where(np.arange(N_ROWS) % 3 == 0, -y, y)
    losses = []
    for factor in (1.0, 30.0):
        C = np.where(noisy == y, 1.0, factor)
        found = learn(X, noisy, C, Fixed(), MAPS[:2], max_epochs=200)
        heavy = noisy != y
        losses.append(np.maximum(0.0, 1.0 - noisy * scores_of(found, X))[heavy].mean())
    assert losses[1] < 0.8 * losses[0]


# --- kinds of rows -----------------------------------------------------------------------------


@EACH_GATE
def test_sparse_rows_learn_as_dense_ones(rows, gate):
    X, y = np.where(np.abs(rows[0]) < 0.3, 0.0, rows[0]), rows[1]
    gate = gate.start(X, 3, np.random.RandomState(0))
    dense, sparse = (
        learn(rows, y, np.ones(N_ROWS), gate, MAPS, max_epochs=20) for rows in (X, csr_matrix(X))
    )
    np.testing.assert_allclose(sparse.weights, dense.weights, atol=1e-6)
    np.testing.assert_allclose(sparse.biases, dense.biases, atol=1e-6)
    np.testing.assert_allclose(sparse.gate.parameters, dense.gate.parameters, atol=1e-6)


def test_single_precision_rows_give_single_precision_models(rows):
    X, y = rows
    gate = Softmax().start(X, 3, np.random.RandomState(0))
    single, double = (
        learn(X.astype(dtype), y, np.ones(N_ROWS), gate, MAPS, max_epochs=20)
        for dtype in (np.float32, np.float64)
    )
    assert single.weights.dtype == single.biases.dtype == np.float32
    np.testing.assert_allclose(single.weights, double.weights, atol=0.02)


def test_one_seed_gives_one_model(rows):
    X, y = rows
    gate = Softmax().start(X, 3, np.random.RandomState(0))
    one, same, other = (
        learn(X, y, np.ones(N_ROWS), gate, MAPS, rng=np.random.RandomState(seed))
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(one.weights, same.weights)
    np.testing.assert_array_equal(one.gate.parameters, same.gate.parameters)
    assert np.abs(one.weights - other.weights).max() > 1e-6
