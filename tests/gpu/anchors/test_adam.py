"""A step on a device against the NumPy solver, float64 autograd, and itself."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch, of the extra gpu, is not installed")

from nearlinear.gpu.anchors.adam import AnchorTraining, _matrix, schedule_of, train_by_adam
from nearlinear.losses import LOSSES, LogLoss
from nearlinear.solvers.anchors.adam import batch_gradients
from nearlinear.solvers.minibatch import one_cycle
from nearlinear.solvers.solution import LocalModels
from nearlinear.solvers.watch import Watch
from reference.local_problem import N_NEIGHBORS, make_problem

KNOWN = ["hinge", "squared_hinge", "log_loss"]


def training(problem, place, loss, *, n_epochs=5, batch_size=40, jitter=0.0, ridge=0.0, rate=0.1):
    X, _, _, model = problem
    return AnchorTraining(
        model, X, n_rows=len(X), n_batches=-(-len(X) // batch_size), n_neighbors=N_NEIGHBORS,
        loss=loss, ridge=ridge, n_epochs=n_epochs, batch_size=batch_size, learning_rate=rate,
        jitter=jitter, learn_metric=True, rng=np.random.default_rng(0),
        device=place[0], form=place[1], dtype=torch.float32,
    )  # fmt: skip


@pytest.mark.parametrize("local_model", ["affine", "constant"])
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("name", KNOWN)
def test_first_moments_are_the_gradients_of_the_numpy_solver(name, n_outputs, local_model, place):
    problem = X, targets, weight, model = make_problem(n_outputs, local_model)
    found = training(problem, place, LOSSES[name])
    found.take(X, targets, weight)
    value, wanted = batch_gradients(X, targets, weight / len(X), model, N_NEIGHBORS, LOSSES[name])
    state = found._state
    weights = wanted.weights if local_model == "affine" else np.zeros(model.weights.shape)
    matrix = _matrix(state.layout, wanted.anchors, weights, wanted.biases, "cpu")
    assert torch.allclose(10.0 * state.mean.cpu(), matrix, rtol=1e-4, atol=1e-5)
    gate = 10.0 * state.gate_mean.cpu().numpy()
    np.testing.assert_allclose(gate[:-1], wanted.log_metric, rtol=1e-4, atol=1e-5)
    assert gate[-1] == pytest.approx(wanted.log_sharpness, rel=1e-4, abs=1e-5)
    assert float(state.losses[0]) == pytest.approx(value, rel=1e-5)


def test_gradients_are_those_of_float64_autograd(place):
    problem = X, targets, weight, model = make_problem(3, "affine", seed=1)
    found = training(problem, place, LogLoss())
    found.take(X, targets, weight)
    anchors, weights, biases, metric = (
        torch.tensor(getattr(model, name), dtype=torch.float64, requires_grad=True)
        for name in ("anchors", "weights", "biases", "metric")
    )
    rows = torch.tensor(X)
    squares = (metric * (rows[:, None] - anchors) ** 2).sum(2)
    near = squares.topk(N_NEIGHBORS, largest=False)[1]
    gates = torch.softmax(-model.sharpness * squares.gather(1, near), 1)
    local = torch.einsum("id,mdc->imc", rows, weights) + biases
    scores = torch.einsum("ik,ikc->ic", gates, local.gather(1, near[:, :, None].expand(-1, -1, 3)))
    losses = torch.nn.functional.cross_entropy(
        scores, torch.tensor(targets.argmax(1)), reduction="none"
    )
    (torch.tensor(weight / len(X)) * losses).sum().backward()
    matrix = _matrix(
        found._state.layout, anchors.grad.numpy(), weights.grad.numpy(), biases.grad.numpy(), "cpu"
    )
    assert torch.allclose(10.0 * found._state.mean.cpu(), matrix, rtol=1e-4, atol=1e-5)
    log_metric = (metric.grad * metric).detach().numpy()
    np.testing.assert_allclose(
        10.0 * found._state.gate_mean.cpu().numpy()[:-1], log_metric, rtol=1e-4, atol=1e-5
    )


def run(problem, place, **more):
    X, targets, weight, _ = problem
    found = training(problem, place, LOSSES["squared_hinge"], batch_size=64, jitter=0.3, **more)
    seen = []
    while not found.is_over:
        found.take(X, targets, weight)
        found.end_epoch(lambda progress: seen.append(progress.objective))
    return found.model(), seen


def with_root(problem):
    model = problem[3]
    return (*problem[:3], replace(model, root=(model.weights.mean(0), model.biases.mean(0))))


def test_the_same_seed_gives_the_same_bits(place):
    problem = with_root(make_problem(3, "affine", n_rows=150))
    (one, first), (two, second) = (run(problem, place, ridge=1e-2) for _ in range(2))
    assert first == second
    assert all(np.array_equal(getattr(one, k), getattr(two, k)) for k in ("anchors", "weights"))


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")
@pytest.mark.parametrize("form", ["compiled", "triton"])
def test_forms_take_the_same_steps(form):
    problem = with_root(make_problem(3, "affine", n_rows=128))
    (one, first), (two, second) = (
        run(problem, ("cuda", name), ridge=1e-2) for name in ("plain", form)
    )
    np.testing.assert_allclose(first, second, rtol=1e-4)
    np.testing.assert_allclose(one.weights, two.weights, rtol=1e-3, atol=1e-3)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")
@pytest.mark.parametrize("form", ["compiled", "triton"])
def test_the_same_seed_gives_the_same_bits_where_programs_are_many(form):
    """Races between programs or warps do not show on a few rows."""
    rng = np.random.default_rng(0)
    X, targets = (
        rng.standard_normal((65_536, 784)).astype(np.float32),
        rng.integers(10, size=65_536),
    )
    zeros = np.zeros((100, 785, 10), dtype=np.float32)
    start = LocalModels(X[:100], 1e-3, zeros[:, :-1], zeros[:, -1])
    found = []
    for _ in range(3):
        one = AnchorTraining(
            start, X, n_rows=len(X), n_batches=8, n_neighbors=8, loss=LogLoss(), ridge=1e-6,
            n_epochs=10, batch_size=8192, learning_rate=0.1, jitter=0.1,
            learn_metric=True, rng=np.random.default_rng(0), form=form,
        )  # fmt: skip
        while not one.is_over:
            one.take(X, targets, np.ones(len(X)))
            one.end_epoch(lambda progress: False)
        found.append(one._state.values.clone())
    assert torch.equal(found[0], found[1]) and torch.equal(found[1], found[2])


def test_rows_past_the_end_of_the_last_batch_count_for_nothing(place):
    """70 rows in batches of 64: the second step is that of six rows."""
    problem = X, targets, weight, model = make_problem(1, "affine", n_rows=70)
    found = training(problem, place, LogLoss(), batch_size=64, rate=1e-6)
    found.take(X, targets, weight)
    assert found._sizes == [64, 6] and int(found._state.count) == 2
    order = found._feed._block.order[64:70].cpu().numpy()
    value, _ = batch_gradients(
        X[order], targets[order], weight[order] / 6, model, N_NEIGHBORS, LogLoss()
    )
    assert float(found._state.losses[1]) == pytest.approx(value, rel=1e-4)


def test_a_row_of_weight_two_is_two_rows_in_the_objective(place):
    X, targets, _, model = make_problem(1, "affine", n_rows=32)
    twice = np.concatenate([X, X[:8]]), np.concatenate([targets, targets[:8]])
    weights = np.ones(32)
    weights[:8] = 2.0
    first = training((X, targets, None, model), place, LogLoss(), batch_size=32)
    first.take(X, targets, weights * 32 / 40)
    second = training((*twice, None, model), place, LogLoss(), batch_size=40)
    second.take(*twice, np.ones(40))
    assert torch.allclose(first._state.mean, second._state.mean, rtol=1e-4, atol=1e-6)


def test_a_training_that_was_stored_goes_on_to_the_same_bits():
    problem = X, targets, weight, _ = make_problem(3, "affine", n_rows=90)
    whole, first, rest = (
        training(problem, ("cpu", "plain"), LogLoss(), batch_size=32, jitter=0.2, n_epochs=4)
        for _ in range(3)
    )
    for number in range(4):
        whole.take(X, targets, weight)
        if number < 2:
            first.take(X, targets, weight)
    rest.restore(*first.state())
    for _ in range(2):
        rest.take(X, targets, weight)
    assert torch.equal(whole._state.values, rest._state.values)


def test_the_schedule_is_that_of_the_numpy_solver():
    found = schedule_of(57)
    steps = np.arange(57)
    scale = np.sqrt(1.0 - 0.999 ** (steps + 1)) / (1.0 - 0.9 ** (steps + 1))
    np.testing.assert_allclose(found[:, 0], [one_cycle(s, 57) for s in steps] * scale)


def test_training_lowers_the_objective_as_the_numpy_solver_does(place):
    X, targets, weight, model = make_problem(1, "affine", n_rows=200)
    watch = Watch()
    train_by_adam(
        X, targets, weight, model, watch, n_neighbors=N_NEIGHBORS, loss=LogLoss(), C=1.0,
        n_epochs=30, batch_size=32, learning_rate=0.2, jitter=0.0,
        learn_metric=False, rng=np.random.default_rng(0), device=place[0], form=place[1],
    )  # fmt: skip
    assert watch.history[-1].objective < 0.5 * watch.history[0].objective
    assert np.allclose(watch.best.metric, model.metric)  # it was not to be learned
