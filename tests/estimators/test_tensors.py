"""Fits to torch tensors, and fits of arrays on a device: what arrays on the CPU have, too."""

from functools import partial

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch, of the extra gpu, is not installed")

from estimators.dying_source import DyingSource
from sklearn.datasets import load_digits, make_moons

from nearlinear import LDKLClassifier, LLCSAPLClassifier, LocalForestClassifier, streams
from nearlinear.estimators import llc_sapl
from nearlinear.estimators._base import trees
from nearlinear.estimators._base.blocks import anchors
from nearlinear.estimators._base.blocks import trees as trees_in_blocks
from nearlinear.estimators._base.forests import parts
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
    from nearlinear.gpu import forests

    def engine(device, own):
        assert device == "cuda"
        kinds = {"anchors": gpu_anchors, "trees": gpu_trees, "forests": forests}
        there = kinds[own.__module__.split(".")[-2]]
        return partial(getattr(there, own.__name__), device="cpu")

    for module in (llc_sapl, anchors, trees, trees_in_blocks, parts):
        monkeypatch.setattr(module, "on_device", engine)


@pytest.mark.parametrize(
    "model",
    [
        LLCSAPLClassifier(10, max_iter=10, random_state=0),
        LLCSAPLClassifier(10, max_iter=10, loss="log_loss", early_stopping=True, random_state=0),
        LDKLClassifier(2, max_iter=10, n_trees=2, random_state=0),
    ],
    ids=["anchors", "held out", "trees"],
)
def test_tensors_make_a_model_as_good_as_that_of_arrays(model):
    wanted = model.fit(X[FIT], Y[FIT]).score(X[HELD], Y[HELD])
    found = model.fit(*tensors()).score(X[HELD], Y[HELD])
    assert found > wanted - 0.03
    assert np.isfinite(model.history_[-1].objective)


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
    blocks = LLCSAPLClassifier(**settings, early_stopping=True).fit(source)
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


def test_leaves_are_refitted_on_a_device_as_on_the_cpu(torch_on_the_cpu):
    settings = {"n_trees": 3, "max_leaves": 6, "leaf_penalty": 1.0, "grower": "hist",
                "pairs": 0, "linear_root": False, "leaf_model": "linear"}  # fmt: skip
    model = LocalForestClassifier(**settings, device="cuda", random_state=0)
    model.fit(X[FIT, 20:30], Y[FIT] % 2)
    assert model.refit_gap_ < 0.1
    assert model.score(X[HELD, 20:30], Y[HELD] % 2) > 0.7


@pytest.mark.parametrize(
    "bad, said",
    [
        ({"X": torch.full((200, 2), float("nan"))}, "NaN"),
        ({"y": np.zeros(3)}, "y has the shape"),
        ({"sample_weight": -np.ones(200)}, "0 or more"),
        ({"y": np.zeros(200)}, "two classes"),
    ],
)
def test_bad_tensors_are_refused_in_a_sentence(bad, said):
    given = {"X": torch.zeros(200, 2), "y": np.arange(200) % 2, **bad}
    with pytest.raises(ValueError, match=said):
        LLCSAPLClassifier(3).fit(given.pop("X"), given.pop("y"), **given)


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
