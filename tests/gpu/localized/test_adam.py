"""Learned gates on a device against the NumPy solver and float64 autograd."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch, of the extra gpu, is not installed")

from nearlinear.gates.learned import Columns, GaussianGate, Sigmoid, Softmax, Viewing
from nearlinear.gpu.localized.adam import GatedTraining
from nearlinear.kernels.affine import AffineMap
from nearlinear.losses import LOSSES, EpsilonInsensitive
from nearlinear.solvers.localized import gate as numpy_solver

N_ROWS, BATCH = 64, 24  # batches of 24, 24 and 16 rows
MAPS = [
    AffineMap(np.array([1.0, 0.3, 0.5, 0.0]), 0.5),
    AffineMap(np.array([0.2, 2.0, 0.0, 1.0]), 0.0),
    AffineMap(np.array([1.5, 0.7, 1.0, 1.0]), 2.0),
]
HINGE, TUBE = LOSSES["hinge"], EpsilonInsensitive(0.1)
GATES = {
    "softmax": Softmax(),
    "sigmoid": Viewing(Sigmoid(), Columns((2, 0))),
    "gaussian": Viewing(GaussianGate(), np.tanh),
    "gaussian of columns": Viewing(GaussianGate(), Columns((3, 1, 2))),
}
EACH_GATE = pytest.mark.parametrize("gate", GATES.values(), ids=GATES)
EACH_LOSS = pytest.mark.parametrize("loss", [HINGE, TUBE], ids=["hinge", "tube"])


def make(place, gate, loss, *, batch_size=BATCH, penalty=0.7):
    if place[1] == "triton":
        pytest.skip("gates have no form in Triton")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N_ROWS, 4))
    targets = np.where(rng.random((N_ROWS, 2)) > 0.5, 1.0, -1.0)
    C = rng.uniform(0.5, 2.0, N_ROWS)
    gates = [gate.start(X, 3, np.random.RandomState(seed)) for seed in (0, 1)]
    total = C.sum()
    found = GatedTraining(
        X, targets, N_ROWS * C / total, gates, MAPS, loss, total=total, penalty=penalty, n_epochs=2,
        batch_size=batch_size, learning_rate=0.1, rng=np.random.default_rng(0), device=place[0],
        form=place[1],
    )  # fmt: skip
    return found, X, targets, C, gates


@EACH_LOSS
@EACH_GATE
def test_epochs_are_those_of_the_numpy_solver(gate, loss, place):
    found, X, targets, C, gates = make(place, gate, loss)
    total = C.sum()
    trainings = [
        numpy_solver.GatedTraining(
            one, MAPS, X.dtype, loss, total=total, penalty=0.7, n_epochs=2, n_steps=6,
            n_rows=N_ROWS, learning_rate=0.1,
        )
        for one in gates
    ]  # fmt: skip
    for _ in range(2):
        found.take()
        order = found._feed._block.order[:N_ROWS].cpu().numpy()
        parts = np.split(order, [BATCH, 2 * BATCH])
        for training, wanted in zip(trainings, targets.T):
            training.take(
                [(X[p], wanted[p, None], N_ROWS * C[p] / total / len(p)) for p in parts]
            )  # fmt: skip
            training.end_epoch()
    for ours, training in zip(found.models(), trainings):
        theirs = training.model()
        np.testing.assert_allclose(ours.weights, theirs.weights, atol=2e-5)
        np.testing.assert_allclose(ours.biases, theirs.biases, atol=2e-5)
        np.testing.assert_allclose(ours.gate.parameters, theirs.gate.parameters, atol=2e-4)
        np.testing.assert_allclose(ours.gate(X), theirs.gate(X), atol=2e-5)
        assert ours.bias == pytest.approx(theirs.bias, abs=2e-5)
        assert ours.price == pytest.approx(theirs.price, rel=1e-4)
        np.testing.assert_allclose(ours.path, theirs.path, rtol=1e-5)


def objective(values, found, X, targets, C, units, penalty, loss):
    """Mean loss and ridges of the matrix of all parameters, written out."""
    layout, m, D = found.layout, found.layout.n_models, found.layout.width
    scales = torch.tensor(found._state.scales.cpu().numpy()).double()
    rows = torch.tensor(found._X.cpu().numpy()).double()
    gate = scales[:D, :m] * values[:D, :m]
    if layout.is_gaussian:
        seen = rows[:, found._columns]
        squares = ((seen[:, None] - gate[found._columns].T) ** 2).sum(2)
        scores = -squares * torch.exp(-2.0 * values[D, :m]) / units
    else:
        scores = rows @ gate + values[D, :m]
    scores = scores.view(len(X), 2, 3)
    gates = torch.sigmoid(scores) if layout.gate == "Sigmoid" else torch.softmax(scores, 2)
    packed = scales * values
    models = packed[:, layout.first : layout.last]
    local = (rows @ models[:D] + models[D]).view(len(X), 2, 3)
    answers = (gates * local).sum(2) + values[D, layout.last : layout.last + 2]
    wanted = torch.tensor(targets)
    if loss is HINGE:
        slack = 1.0 - wanted * answers
    else:
        slack = (answers - wanted).abs() - loss.epsilon
    total = (torch.tensor(C)[:, None] * slack.clamp_min(0.0)).sum()
    total = total + 0.5 * (values[:, layout.first : layout.last] ** 2).sum()
    return (total + 0.5 * penalty * (values[:, :m] ** 2).sum()) / C.sum()


@EACH_LOSS
@EACH_GATE
def test_gradients_are_those_of_float64_autograd(gate, loss, place):
    found, X, targets, C, _ = make(place, gate, loss, batch_size=N_ROWS)
    state, layout = found._state, found.layout
    drawn = np.random.default_rng(1).standard_normal(tuple(state.values.shape))
    state.values[:, layout.first :] = torch.tensor(drawn[:, layout.first :]).float()
    state.values *= (state.scales != 0) | (state.values != 0)
    state.values[:, layout.first :] *= state.scales[:, layout.first :] != 0
    if layout.is_gaussian:
        state.values[layout.width, : layout.n_models] = torch.linspace(-0.3, 0.3, layout.n_models)
    state.packed.copy_(state.scales * state.values)
    values = torch.tensor(state.values.cpu().numpy()).double().requires_grad_()
    units = None if state.units is None else state.units.cpu().double()
    objective(values, found, X, targets, C, units, 0.7, loss).backward()
    found.take()
    np.testing.assert_allclose(10.0 * state.mean.cpu(), values.grad, rtol=1e-4, atol=1e-5)


def test_the_same_seed_gives_the_same_bits(place):
    one, two = (make(place, GaussianGate(), HINGE)[0] for _ in range(2))
    for training in (one, two):
        training.take()
        training.take()
    assert torch.equal(one._state.values, two._state.values)
    assert torch.equal(one._state.losses, two._state.losses)


def test_a_gate_of_ones_own_is_refused_in_a_sentence():
    class Own:
        def start(self, Z, n_components, rng):
            return self

    with pytest.raises(ValueError, match="leave device out"):
        make(("cpu", "plain"), Own(), HINGE)
