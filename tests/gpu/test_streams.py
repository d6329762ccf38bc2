"""partial_fit on a device: steps against the NumPy solvers, and what a stream promises."""

import pickle

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch, of the extra gpu, is not installed")

from sklearn.datasets import load_digits

from nearlinear import LDKLClassifier, LDKLRegressor, LLCSAPLClassifier, load, save
from nearlinear.estimators._base.tensors import rows as tensor_rows
from nearlinear.gates.trees.balanced import hard_paths
from nearlinear.gates.trees.node_gates import TanhNode
from nearlinear.gpu.anchors import adam
from nearlinear.gpu.anchors.adam import _matrix
from nearlinear.gpu.anchors.stream import AnchorStream
from nearlinear.gpu.streams import rates_from, rows_like
from nearlinear.gpu.trees.adam import models_in
from nearlinear.gpu.trees.stream import TreeStream
from nearlinear.losses import LogLoss
from nearlinear.solvers.anchors.adam import batch_gradients
from nearlinear.solvers.trees import paths
from nearlinear.solvers.trees.phases import Annealing
from nearlinear.solvers.trees.soft import SoftPass
from nearlinear.solvers.trees.start import start_tree
from reference.local_problem import N_NEIGHBORS, make_problem

X, Y = load_digits(return_X_y=True)
ORDER = np.random.default_rng(0).permutation(len(Y))
X, Y = (X[ORDER] / 16.0).astype(np.float32), Y[ORDER]
HALVES, HELD = (slice(0, 600), slice(600, 1100)), slice(1100, None)
REASON = "there is no CUDA device"
CUDA = pytest.param(
    "cuda",
    marks=[pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason=REASON)],
)


@pytest.fixture(params=["cpu", CUDA])
def device(request):
    return request.param


@pytest.fixture(params=["anchors", "tree"])
def make(request):
    kind, size = {"anchors": (LLCSAPLClassifier, 10), "tree": (LDKLClassifier, 2)}[request.param]
    return lambda **settings: kind(size, random_state=0, **settings)


def feed(model, device, between=lambda model: model, parts=HALVES, **settings):
    for part in parts:
        rows, labels = (torch.tensor(one[part], device=device) for one in (X, Y))
        model = between(model.partial_fit(rows, labels, classes=range(10), **settings))
    return model


def assert_same_bits(one, other):
    np.testing.assert_array_equal(one.decision_function(X[HELD]), other.decision_function(X[HELD]))


def test_two_halves_teach_digits(make, device):
    """Of eight seeds on the CPU the mean is 0.94, and their deviation 0.01; our own code has so."""
    found = feed(make(), device)
    assert found.score(X[HELD], Y[HELD]) > 0.915
    answers = found.predict(torch.tensor(X[HELD], device=device))
    assert np.mean(answers.cpu().numpy() == found.predict(X[HELD])) > 0.99


def test_one_seed_gives_one_stream_that_a_pickle_goes_on_with(make, device):
    parts = slice(0, 500), slice(500, 800), slice(800, 1100)  # the second fits where the first was
    wanted = feed(make(), device, parts=parts)
    assert_same_bits(feed(make(), device, parts=parts), wanted)
    again = feed(make(), device, lambda model: pickle.loads(pickle.dumps(model)), parts=parts)
    assert_same_bits(again, wanted)


def test_rows_without_weight_are_as_if_they_were_not_there(make, device):
    wanted, found = feed(make(), device), make()
    for part in HALVES:
        rows, labels = np.concatenate([X[part], 5.0 * X[:90]]), np.append(Y[part], Y[:90] * 0)
        weight = np.append(np.ones(len(Y[part])), np.zeros(90))
        rows = torch.tensor(rows, device=device)
        found.partial_fit(rows, labels, classes=range(10), sample_weight=weight)
    assert_same_bits(found, wanted)


def test_weights_of_classes_are_weights_of_rows(make, device):
    by_class, by_row = feed(make(class_weight={3: 4.0}), device), make()
    for part in HALVES:
        weight = np.where(Y[part] == 3, 4.0, 1.0)
        rows = torch.tensor(X[part], device=device)
        by_row.partial_fit(rows, Y[part], classes=range(10), sample_weight=weight)
    assert_same_bits(by_class, by_row)


def test_a_tensor_may_be_filled_anew_and_is_never_written(make, device):
    """``deformed_tensors(out=...)`` makes the rows of every call in the same memory."""
    wanted, found = feed(make(), device), make()
    rows = torch.empty(600, 64, device=device)
    for part in HALVES:
        own = rows[: len(Y[part])]
        own.copy_(torch.tensor(X[part]))
        found.partial_fit(own, Y[part], classes=range(10))
        assert torch.equal(own.cpu(), torch.tensor(X[part]))
    assert_same_bits(found, wanted)


def test_rows_in_the_order_of_columns_are_the_same_rows(make, device):
    rows, labels = torch.tensor(X[:600], device=device), torch.tensor(Y[:600], device=device)
    by_columns = rows.T.contiguous().T
    for learn in ("fit", "partial_fit"):
        known = {"classes": range(10)} if learn == "partial_fit" else {}
        wanted, found = (
            getattr(make(max_iter=2), learn)(one, labels, **known) for one in (rows, by_columns)
        )
        assert_same_bits(found, wanted)


def test_a_tree_without_splits_learns(device):
    model = feed(LDKLClassifier(0, random_state=0), device)
    assert model.score(X[HELD], Y[HELD]) > 0.6  # our own code has 0.76


@pytest.mark.parametrize("batch_size", ["auto", 10])
def test_the_cycle_of_step_sizes_ends_with_the_fit(monkeypatch, batch_size):
    """A device takes batches in eights, and counts its steps by these."""
    seen = []

    class Watched(adam.AnchorTraining):
        def end_epoch(self, watch):
            super().end_epoch(watch)
            seen.append((int(self._state.count), self._n_steps))

    monkeypatch.setattr(adam, "AnchorTraining", Watched)
    model = LLCSAPLClassifier(5, max_iter=3, batch_size=batch_size, random_state=0)
    model.fit(torch.tensor(X[:603]), torch.tensor(Y[:603]))
    n_taken, n_planned = seen[-1]
    assert n_taken == n_planned


def test_bytes_and_their_numbers_are_one_stream(device):
    rows = torch.tensor(np.round(255 * X)).to(torch.uint8).to(device)
    model = LLCSAPLClassifier(10, random_state=0)
    model.partial_fit(rows[:600], Y[:600], classes=range(10))
    model.partial_fit(rows[600:1100].float(), Y[600:1100])
    assert model.score(255 * X[HELD], Y[HELD]) > 0.9


def test_a_stream_goes_on_from_a_fit_and_from_a_file(make, device, tmp_path):
    rows, labels = torch.tensor(X, device=device), torch.tensor(Y, device=device)
    model = make(max_iter=10).fit(rows[:1100], labels[:1100])
    before, fitted = model.predict(X[HELD]), model.score(X[HELD], Y[HELD])
    save(model, tmp_path / "one.nlm")
    model.partial_fit(rows[:1], labels[:1])  # one row does not upset it
    assert np.mean(model.predict(X[HELD]) == before) > 0.98
    for one in (model, load(tmp_path / "one.nlm")):
        one.partial_fit(rows[600:1100], labels[600:1100])
        assert one.score(X[HELD], Y[HELD]) > fitted - 0.02


def test_rows_that_are_refused_leave_the_stream_as_it_was(make):
    wanted, found = feed(make(), "cpu"), feed(make(), "cpu", parts=HALVES[:1])
    for rows, labels, said in [
        (X[:5, :9], Y[:5], "X has 9 features, but .* expecting 64 features"),
        (X[:5], Y[:5] + 20, "partial_fit met the label"),
        (X[:5] * np.nan, Y[:5], "NaN"),
    ]:
        with pytest.raises(ValueError, match=said):
            found.partial_fit(torch.tensor(rows), torch.tensor(labels))
    with pytest.raises(ValueError, match="needs classes in its first call"):
        make().partial_fit(torch.tensor(X), torch.tensor(Y))
    assert_same_bits(feed(found, "cpu", parts=HALVES[1:]), wanted)


def test_arrays_are_learned_on_the_device_that_is_asked_for(make, monkeypatch):
    class OnTheCpu:
        device = staticmethod(lambda name: torch.device("cpu"))

    monkeypatch.setattr(tensor_rows, "torch_for", lambda device: OnTheCpu)
    model = make(device="cuda")
    for part in HALVES:
        model.partial_fit(X[part], Y[part], classes=range(10))
    assert model.score(X[HELD], Y[HELD]) > 0.9
    values = LDKLRegressor(2, device="cuda", random_state=0)
    for part in HALVES:
        values.partial_fit(X[part], 100.0 + Y[part])
    assert values.score(X[HELD], 100.0 + Y[HELD]) > 0.5


def test_values_of_tensors_are_learned(device):
    model = LDKLRegressor(2, random_state=0)
    for part in HALVES:
        rows, values = (torch.tensor(one[part], device=device) for one in (X, 100.0 + Y))
        model.partial_fit(rows, values)
    assert model.score(X[HELD], 100.0 + Y[HELD]) > 0.5


def test_a_step_of_anchors_is_that_of_the_numpy_solver(place):
    rows, targets, weight, model = make_problem(3, "affine")
    stream = AnchorStream(
        model, rows_like(rows), n_neighbors=N_NEIGHBORS, loss=LogLoss(), batch_size=40,
        learning_rate=0.1, jitter=0.0, learn_sharpness=True, learn_metric=True,
        rng=np.random.default_rng(0), device=place[0], form=place[1], dtype=torch.float32,
    )  # fmt: skip
    tensors = (torch.tensor(one, device=place[0]) for one in (rows, targets, weight))
    stream.go_on(*tensors, ridge=0.5, count=0, time=0, batch=padded_to(len(rows)))
    _, wanted = batch_gradients(rows, targets, weight / len(rows), model, N_NEIGHBORS, LogLoss())
    state, pulled = stream._state, (0.5 * model.weights, 0.5 * model.biases)
    wanted = _matrix(
        state.layout, wanted.anchors, wanted.weights + pulled[0], wanted.biases + pulled[1], "cpu"
    )
    assert torch.allclose(10.0 * state.mean.cpu(), wanted, rtol=1e-4, atol=1e-5)


def padded_to(n_rows):
    return -(-n_rows // 8) * 8


def test_a_batch_of_a_tree_takes_a_soft_step_and_then_a_hard_one(place):
    rng = np.random.default_rng(0)
    Z = np.column_stack([rng.standard_normal((40, 5)), np.ones(40)])
    targets = np.where(rng.integers(2, size=40) == 1, 1.0, -1.0)[:, None]
    start, share = start_tree(Z, 3, 1, TanhNode(1.3), rng), np.full(40, 1.0 / 40)
    stream = TreeStream(
        start, rows_like(Z), Annealing(2.0, 20.0, 0.3), loss=LogLoss(), batch_size=40,
        direction_ridges=(0.0, 0.0), learning_rate=1e-7, jitter=0.0,
        rng=np.random.default_rng(0), device=place[0], form=place[1], dtype=torch.float32,
    )  # fmt: skip
    tensors = (torch.tensor(one, device=place[0]) for one in (Z, targets, np.ones(40)))
    assert stream.go_on(*tensors, ridge=0.0, count=0, time=0, batch=40) == 1
    sharpness = 2.0 / np.abs(Z @ start.splits.T).mean()
    _, soft = SoftPass(start, 40).gradients(start, Z, targets, share, sharpness, LogLoss())
    path = hard_paths(Z, start.splits, 3)
    _, hard = paths.path_gradients(start, Z, path, targets, share, LogLoss())
    (found,) = models_in(stream.layout, stream._state.mean, TanhNode(1.3), np.float64)
    near = {"rtol": 1e-3, "atol": 1e-6}
    np.testing.assert_allclose(found.splits, 0.1 * soft.splits, **near)
    np.testing.assert_allclose(found.weights, 0.09 * soft.weights + 0.1 * hard.weights, **near)


def test_steps_shrink_and_go_on_where_they_were():
    whole = rates_from(0, 0, 300, 100.0)
    np.testing.assert_array_equal(whole[120:], rates_from(120, 120, 180, 100.0))
    late = rates_from(100_000, 100_000, 2, 100.0)
    assert late[0, 0] == pytest.approx(0.5 / np.sqrt(1001.0)) and late[0, 1] == 0.998


def test_two_rows_tell_what_all_tell():
    rows = np.random.default_rng(0).normal(3.0, 2.0, (500, 4))
    two = rows_like(torch.tensor(rows))
    np.testing.assert_allclose(two.mean(0), rows.mean(0), rtol=1e-5)
    np.testing.assert_allclose(two.std(0), rows.std(0), rtol=1e-5)
