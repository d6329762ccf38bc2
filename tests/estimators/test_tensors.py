"""Fits to torch tensors, and fits of arrays on a device: what arrays on the CPU have, too."""

from functools import partial

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch, of the extra gpu, is not installed")

from estimators.dying_source import DyingSource
from sklearn.base import clone
from sklearn.datasets import load_digits, make_moons
from sklearn.metrics import r2_score

from nearlinear import (
    LDKLClassifier,
    LDKLRegressor,
    LLCSAPLClassifier,
    LLSVMClassifier,
    load,
    save,
    streams,
)
from nearlinear.estimators import llc_sapl
from nearlinear.estimators._base import model as model_module
from nearlinear.estimators._base import trees
from nearlinear.estimators._base.blocks import anchors
from nearlinear.estimators._base.blocks import trees as trees_in_blocks
from nearlinear.gpu.anchors import adam as gpu_anchors
from nearlinear.gpu.device import on_device
from nearlinear.gpu.trees import adam as gpu_trees

X, Y = load_digits(return_X_y=True)
X = X / 16.0
FIT, HELD = slice(0, 800), slice(1200, None)


def tensors():
    return torch.tensor(X[FIT]), torch.tensor(Y[FIT])


@pytest.fixture
def torch_on_the_cpu(monkeypatch):
    """device="cuda" runs on the CPU device of torch."""

    def engine(device, own):
        if device == "cpu":  # searches
            return own
        kinds = {"anchors": gpu_anchors, "trees": gpu_trees}
        there = kinds[own.__module__.split(".")[-2]]
        return partial(getattr(there, own.__name__), device="cpu")

    for module in (llc_sapl, anchors, trees, trees_in_blocks):
        monkeypatch.setattr(module, "on_device", engine)


@pytest.mark.parametrize(
    "model",
    [
        LLCSAPLClassifier(10, max_iter=10, random_state=0),
        LLCSAPLClassifier(10, max_iter=10, loss="log_loss", random_state=0),
        LDKLClassifier(2, max_iter=10, n_trees=2, random_state=0),
    ],
    ids=["anchors", "log loss", "trees"],
)
def test_tensors_make_a_model_as_good_as_that_of_arrays(model):
    wanted = model.fit(X[FIT], Y[FIT]).score(X[HELD], Y[HELD])
    found = model.fit(*tensors()).score(X[HELD], Y[HELD])
    assert found > wanted - 0.03
    assert np.isfinite(model.history_[-1].objective)


FAR = [
    LLCSAPLClassifier(10, max_iter=10, random_state=0),
    LDKLClassifier(2, max_iter=10, random_state=0),
]


@pytest.mark.parametrize("model", FAR, ids=["anchors", "tree"])
def test_float64_rows_far_from_the_origin_make_as_good_a_model(model, tmp_path):
    """Of 5,000,000.0625 float32 keeps 5,000,000."""
    found = {}
    for offset in (0.0, 5e6):
        rows, labels = torch.tensor(X + offset), torch.tensor(Y)
        one = clone(model).fit(rows[FIT], labels[FIT])
        found[offset] = one.score(rows[HELD].numpy(), Y[HELD])
    assert found[5e6] > max(0.8, found[0.0] - 0.02)
    assert one.predictor_.dtype == np.float64
    save(one, tmp_path / "one.nlm")
    wanted = one.predict(rows[HELD].numpy())
    assert np.array_equal(load(tmp_path / "one.nlm").predict(rows[HELD].numpy()), wanted)
    assert np.mean(one.predict(rows[HELD]).numpy() == wanted) > 0.99


def test_float64_rows_of_a_regressor_may_lie_far_from_the_origin():
    rows = torch.tensor(X + 5e6)
    model = LDKLRegressor(2, random_state=0).fit(X[FIT] + 5e6, 100.0 + Y[FIT])
    predictions = model.predict(X[HELD] + 5e6)
    assert r2_score(100.0 + Y[HELD], predictions) > 0.5
    np.testing.assert_allclose(model.predict(rows[HELD]), predictions, rtol=1e-4)


@pytest.mark.parametrize("kind", [LLCSAPLClassifier, LDKLClassifier])
def test_partial_fit_learns_from_tensors_as_from_arrays(kind):
    """Also after a fit to tensors, and whatever the device is."""
    scores = []
    for convert, device in ((np.asarray, "cpu"), (torch.tensor, "cpu"), (np.asarray, "cuda")):
        model = kind(4, max_iter=5, random_state=0).fit(*tensors()).set_params(device=device)
        for part in (slice(800, 1000), slice(1000, 1200)):
            model.partial_fit(convert(X[part]), convert(Y[part]))
        scores.append(model.decision_function(X[HELD]))
    np.testing.assert_array_equal(scores[1], scores[0])
    np.testing.assert_array_equal(scores[2], scores[0])


@pytest.mark.parametrize("kind", [LLCSAPLClassifier, LDKLClassifier])
def test_the_memory_layout_of_tensors_does_not_matter(kind):
    rows, labels = tensors()
    by_columns = rows.T.contiguous().T
    expected, found = (
        kind(4, max_iter=2, random_state=0).fit(one, labels).decision_function(X[HELD])
        for one in (rows, by_columns)
    )
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("batch_size", ["auto", 10])
def test_the_cycle_of_step_sizes_ends_with_the_fit(monkeypatch, batch_size):
    """A device takes batches in eights, and counts its steps by these."""
    steps = []

    class Watched(gpu_anchors.AnchorTraining):
        def end_epoch(self, watch):
            super().end_epoch(watch)
            steps.append((int(self._state.count), self._n_steps))

    monkeypatch.setattr(gpu_anchors, "AnchorTraining", Watched)
    model = LLCSAPLClassifier(5, max_iter=3, batch_size=batch_size, random_state=0)
    model.fit(torch.tensor(X[:603]), torch.tensor(Y[:603]))
    n_taken, n_planned = steps[-1]
    assert n_taken == n_planned


def test_bytes_make_a_model_of_bytes():
    rows = torch.tensor(np.round(255 * X)).to(torch.uint8)
    model = LLCSAPLClassifier(10, max_iter=10, random_state=0).fit(rows[FIT], Y[FIT])
    assert model.score(255 * X[HELD], Y[HELD]) > 0.9
    assert np.mean(model.predict(rows[HELD]).numpy() == Y[HELD]) > 0.9


def test_weights_of_classes_and_rows_are_one_product():
    rows, labels = torch.tensor(make_moons(200, noise=0.3, random_state=0)[0]), Y[:200] % 2
    settings = {"n_anchors": 4, "max_iter": 5, "random_state": 0}
    by_class = LLCSAPLClassifier(**settings, class_weight={0: 1, 1: 3}).fit(rows, labels)
    by_row = LLCSAPLClassifier(**settings).fit(
        rows, labels, sample_weight=torch.tensor(np.where(labels == 1, 3.0, 1.0))
    )
    assert np.array_equal(by_class.predictor_.weights, by_row.predictor_.weights)


def test_arrays_learn_on_a_device_in_blocks_or_whole(torch_on_the_cpu):
    settings = {"n_anchors": 10, "max_iter": 6, "random_state": 0, "device": "cuda"}
    whole = LLCSAPLClassifier(**settings).fit(X[FIT], Y[FIT])
    source = streams.from_arrays(X[FIT].astype(np.float32), Y[FIT], block_rows=300)
    blocks = LLCSAPLClassifier(**settings).fit(source)
    tree = LDKLClassifier(2, max_iter=10, device="cuda", random_state=0).fit(X[FIT], Y[FIT])
    trees = LDKLClassifier(2, max_iter=10, device="cuda", random_state=0).fit(source)
    for model in (whole, blocks, tree, trees):
        assert model.score(X[HELD], Y[HELD]) > 0.9


@pytest.mark.parametrize("kind", [LLCSAPLClassifier, LDKLClassifier])
def test_a_checkpoint_of_a_device_goes_on_to_the_same_bits(kind, torch_on_the_cpu, tmp_path):
    source = streams.from_arrays(X[FIT].astype(np.float32), Y[FIT], block_rows=100)
    model = kind(4, max_iter=6, random_state=0, device="cuda")
    wanted, path = model.fit(source).predictor_.weights, tmp_path / "one"
    with pytest.raises(InterruptedError):
        model.fit(DyingSource(source, 80, InterruptedError()), checkpoint=path, every=0.0)
    assert path.exists()
    model.fit(source, checkpoint=path, every=0.0)
    assert np.array_equal(model.predictor_.weights, wanted)


@pytest.mark.parametrize("loss", ["log_loss", "hinge", "squared_hinge"])
def test_several_labels_a_row_are_refused_on_a_device(loss, torch_on_the_cpu):
    several = np.column_stack([Y[FIT] % 2, Y[FIT] % 3 == 0, Y[FIT] > 4]).astype(int)
    model = LDKLClassifier(2, loss=loss, max_iter=2, device="cuda", random_state=0)
    with pytest.raises(ValueError, match="not there on a device yet: leave device out"):
        model.fit(X[FIT], several)


@pytest.mark.parametrize(
    "bad, said",
    [
        ({"X": torch.full((200, 2), float("nan"))}, "NaN"),
        ({"y": np.zeros(3)}, "y has the shape"),
        ({"sample_weight": -np.ones(200)}, "0 or more"),
        ({"y": np.zeros(200)}, "two classes"),
        ({"y": torch.full((200,), float("nan"))}, "NaN"),
        ({"y": torch.linspace(0.0, 1.5, 200)}, "continuous"),
        ({"X": torch.zeros(200, 2).to_sparse()}, "dense"),
        ({"X": torch.zeros(200, 2, dtype=torch.complex64)}, "real"),
    ],
)
def test_bad_tensors_are_refused_in_a_sentence(bad, said):
    given = {"X": torch.zeros(200, 2), "y": np.arange(200) % 2, **bad}
    model = LLCSAPLClassifier(3)
    with pytest.raises(ValueError, match=said):
        model.fit(given.pop("X"), given.pop("y"), **given)


@pytest.mark.parametrize("kind", [LLCSAPLClassifier, LDKLClassifier])
def test_defaults_of_few_tensors_are_those_of_arrays(kind, monkeypatch):
    rows, labels = X[:300], Y[:300]
    model = kind(max_iter=3, random_state=0)
    wanted = model.fit(rows, labels).decision_function(rows)
    found = model.fit(torch.tensor(rows), torch.tensor(labels)).decision_function(rows)
    np.testing.assert_array_equal(found, wanted)
    monkeypatch.setattr(model_module, "_FEW_TENSORS", 200)  # now they are many
    model = kind(random_state=0).fit(torch.tensor(rows), torch.tensor(labels))
    assert model.score(rows, labels) > 0.9
    assert model.predict_proba(torch.tensor(rows)).shape == (300, 10)


def test_by_way_of_arrays_tensors_are_read_or_refused_in_a_sentence():
    rows, model = torch.tensor(X[:200]), LLSVMClassifier(5, random_state=0)
    half = rows.bfloat16()
    wanted = model.fit(half.float(), Y[:200]).predict(half.float())
    assert torch.equal(model.fit(half, Y[:200]).predict(half), wanted)
    with pytest.raises(ValueError, match="Tensors of rows are dense and real"):
        model.fit(rows.to_sparse(), Y[:200])


@pytest.mark.parametrize("dtype", [torch.bool, torch.uint16, torch.float64])
def test_labels_of_any_type_are_learned(dtype):
    labels = torch.tensor(Y % 2).to(dtype)
    model = LLCSAPLClassifier(5, max_iter=2, random_state=0).fit(torch.tensor(X), labels)
    model.partial_fit(torch.tensor(X), labels)
    assert model.classes_.tolist() == [0, 1]


def test_a_device_that_is_not_there_is_refused_in_a_sentence():
    if torch.cuda.is_available():
        pytest.skip("there is a CUDA device")
    with pytest.raises(ValueError, match="sees no CUDA device"):
        LLCSAPLClassifier(3, device="cuda").fit(X[FIT], Y[FIT])


def test_a_device_of_another_name_is_refused_in_a_sentence():
    with pytest.raises(ValueError, match="must be 'cpu', 'cuda'"):
        LLCSAPLClassifier(3, device="gpu").fit(X[FIT], Y[FIT])


def test_the_cpu_needs_no_torch():
    own = object()
    assert on_device("cpu", own) is own
