"""Scores of tensors are those of arrays, and come back as tensors."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch, of the extra gpu, is not installed")

from sklearn.datasets import load_digits

from nearlinear import (
    LDKLClassifier,
    LLCSAPLClassifier,
    LLSVMClassifier,
    LMKLClassifier,
    LocalForestClassifier,
    SimpleMKLClassifier,
    SwMKLClassifier,
)
from nearlinear.gpu.machine.scores import expansion
from nearlinear.gpu.scores import is_known
from nearlinear.kernels import Gaussian, OnColumns

X, Y = load_digits(return_X_y=True)
X, Y = X[:300] / 16.0, Y[:300]
MODELS = {
    "anchors": LLCSAPLClassifier(10, max_iter=2, random_state=0),
    "many anchors": LLCSAPLClassifier(40, n_neighbors=5, max_iter=2, random_state=0),
    "two classes": LLCSAPLClassifier(5, max_iter=2, random_state=0),
    "constants": LLCSAPLClassifier(10, local_model="constant", max_iter=2, random_state=0),
    "a tree": LDKLClassifier(3, max_iter=2, random_state=0),
    "no splits": LDKLClassifier(0, max_iter=2, random_state=0),
    "trees": LDKLClassifier(3, n_trees=2, max_iter=2, random_state=0),
    "softmax": LMKLClassifier(solver="adam", max_epochs=2, random_state=0),
    "sigmoid": LMKLClassifier(gate="sigmoid", solver="adam", max_epochs=2, random_state=0),
    "gaussian": LMKLClassifier(
        gate="gaussian", gating_features=[20, 9, 30], solver="adam", max_epochs=2, random_state=0
    ),
    "kernels": SimpleMKLClassifier(["gaussian", "linear", "poly"]),
    "gated kernels": LMKLClassifier("gaussians", n_copies=1, max_iter=2, random_state=0),
    "forest by way of arrays": LocalForestClassifier(n_trees=4, random_state=0),
    "by way of arrays, too": SwMKLClassifier(),
    "by way of arrays": LLSVMClassifier(5, coding="inverse", random_state=0),
}


@pytest.mark.parametrize("name", MODELS)
def test_tensors_are_scored_where_they_lie(name, place):
    if place[1] != "plain":
        pytest.skip("scores have one form")
    labels = Y % 2 if name == "two classes" else Y
    model = MODELS[name].fit(X, labels)
    rows = torch.tensor(X, device=place[0])
    assert is_known(model.predictor_) == ("arrays" not in name)
    scores, answers = model.decision_function(rows), model.predict(rows)
    assert scores.device == answers.device == rows.device
    np.testing.assert_allclose(scores.cpu(), model.decision_function(X), rtol=1e-4, atol=1e-4)
    assert np.mean(answers.cpu().numpy() == model.predict(X)) > 0.99


def test_a_gate_far_from_the_origin_keeps_its_digits(place):
    if place[1] != "plain":
        pytest.skip("scores have one form")
    rows = X[:, 10:20] + 1000.0
    model = LMKLClassifier(gate="gaussian", solver="adam", max_epochs=3, random_state=0)
    model.fit(rows, Y % 2)
    found = model.gate_values(rows)
    wide = torch.tensor(rows, device=place[0])
    wanted = model.decision_function(rows)
    assert found.std(axis=0).max() > 0.01  # the gate makes a difference
    np.testing.assert_allclose(
        model.decision_function(wide).cpu(), wanted, atol=2e-3 * np.abs(wanted).max()
    )


@pytest.mark.every_case
@pytest.mark.parametrize("offset", [0.0, 1e4, 5e6])
@pytest.mark.parametrize("name", ["anchors", "many anchors", "constants", "a tree", "trees"])
def test_float64_rows_far_from_the_origin_have_the_scores_of_arrays(name, offset, place):
    if place[1] != "plain":
        pytest.skip("scores have one form")
    rows = X + offset  # sixteenths, so that nothing is rounded
    model = MODELS[name].fit(rows, Y)
    scores = model.decision_function(torch.tensor(rows, device=place[0])).cpu()
    wanted = model.decision_function(rows)
    np.testing.assert_allclose(scores, wanted, rtol=1e-4, atol=1e-4 * np.abs(wanted).max())


def test_bytes_are_scored_as_exactly_as_numbers(place):
    if place[1] != "plain":
        pytest.skip("scores have one form")
    rows = np.random.default_rng(0).integers(0, 256, size=(500, 40)).astype(np.uint8)
    labels = rows[:, 0].astype(int) * rows[:, 1] // 16384
    model = LLCSAPLClassifier(40, n_neighbors=7, max_iter=2, random_state=0)
    model.fit(rows.astype(float), labels)
    scores = model.decision_function(torch.tensor(rows, device=place[0]))
    wanted = model.decision_function(rows.astype(float))
    np.testing.assert_allclose(scores.cpu(), wanted, rtol=2e-5, atol=2e-5 * np.abs(wanted).max())


def test_probabilities_of_tensors_and_labels_that_are_words():
    words = np.array(["no", "yes"])[Y % 2]
    model = LLCSAPLClassifier(5, loss="log_loss", max_iter=2, random_state=0).fit(X, words)
    chances = model.predict_proba(torch.tensor(X))
    np.testing.assert_allclose(chances, model.predict_proba(X), atol=1e-4)
    assert model.predict(torch.tensor(X)).tolist() == model.predict(X).tolist()


def test_rows_of_another_width_are_refused():
    model = MODELS["anchors"].fit(X, Y)
    with pytest.raises(ValueError, match="64 features"):
        model.predict(torch.zeros(3, 5))


def test_one_neighbor_that_is_all_but_tied_has_scores(place):
    """Which of two is nearer is told by rounded distances; the nearer one may be the other."""
    if place[1] != "plain":
        pytest.skip("scores have one form")
    rng = np.random.default_rng(0)
    rows = 1000.0 * rng.standard_normal((20_000, 6))
    model = LLSVMClassifier(60, n_neighbors=1, sharpness=1e3, tol=1.0, random_state=0)
    model.fit(rows[:2000], rows[:2000, 0] > 0)
    scores = model.decision_function(torch.tensor(rows, device=place[0]))
    assert bool(torch.isfinite(scores).all())


@pytest.mark.every_case
@pytest.mark.parametrize("offset", [0.0, 1e4, 1e6])
@pytest.mark.parametrize("kernels", ["gaussian", [OnColumns(Gaussian(0.1), range(5))]], ids=str)
def test_kernel_machines_keep_their_digits_far_from_the_origin(kernels, offset, place):
    if place[1] != "plain":
        pytest.skip("scores have one form")
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((200, 6)) + offset
    labels = (rows[:, 0] - offset) * (rows[:, 1] - offset) > 0
    model = SimpleMKLClassifier(kernels).fit(rows[:100], labels[:100])
    scores = model.decision_function(torch.tensor(rows, device=place[0]))
    np.testing.assert_allclose(scores.cpu(), model.decision_function(rows), atol=1e-4)


def test_numbers_of_a_block_count_each_set_of_columns(place):
    kernels = [OnColumns(Gaussian(0.1), [number]) for number in range(6)]
    wide = SimpleMKLClassifier(kernels).fit(X, Y % 2).predictor_
    plain = SimpleMKLClassifier(["gaussian"]).fit(X, Y % 2).predictor_
    a_row = [expansion(one, torch.tensor(X))[1] / len(one.support) for one in (plain, wide)]
    assert a_row[0] == 4 and a_row[1] >= 2 * len(wide.kernels) > 4


@pytest.mark.parametrize("odd", [torch.nan, torch.inf])
@pytest.mark.parametrize("name", ["anchors", "a tree", "softmax", "kernels", "gated kernels"])
def test_rows_that_are_not_finite_are_refused(name, odd):
    model, rows = MODELS[name].fit(X, Y), torch.tensor(X)
    rows[7, 3] = odd
    with pytest.raises(ValueError, match=r"contains (NaN|infinity)"):
        model.predict(rows)
