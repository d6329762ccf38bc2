"""Scores of tensors are those of arrays, and come back as tensors."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch, of the extra gpu, is not installed")

from sklearn.datasets import load_digits

from nearlinear import LDKLClassifier, LLCSAPLClassifier, LLSVMClassifier

X, Y = load_digits(return_X_y=True)
X, Y = X[:300] / 16.0, Y[:300]
MODELS = {
    "anchors": LLCSAPLClassifier(10, max_iter=2, random_state=0),
    "two classes": LLCSAPLClassifier(5, max_iter=2, random_state=0),
    "constants": LLCSAPLClassifier(10, local_model="constant", max_iter=2, random_state=0),
    "a tree": LDKLClassifier(3, max_iter=2, random_state=0),
    "trees": LDKLClassifier(3, n_trees=2, max_iter=2, random_state=0),
    "by way of arrays": LLSVMClassifier(5, coding="inverse", random_state=0),
}


@pytest.mark.parametrize("name", MODELS)
def test_tensors_are_scored_where_they_lie(name, place):
    if place[1] != "plain":
        pytest.skip("scores have one form")
    labels = Y % 2 if name == "two classes" else Y
    model = MODELS[name].fit(X, labels)
    rows = torch.tensor(X, device=place[0])
    scores, answers = model.decision_function(rows), model.predict(rows)
    assert scores.device == answers.device == rows.device
    np.testing.assert_allclose(scores.cpu(), model.decision_function(X), rtol=1e-4, atol=1e-4)
    assert np.mean(answers.cpu().numpy() == model.predict(X)) > 0.99


def test_bytes_are_scored_as_exactly_as_numbers(place):
    if place[1] != "plain":
        pytest.skip("scores have one form")
    rows = np.random.default_rng(0).integers(0, 256, size=(500, 40)).astype(np.uint8)
    labels = rows[:, 0].astype(int) * rows[:, 1] // 16384
    model = LLCSAPLClassifier(10, max_iter=2, random_state=0).fit(rows.astype(float), labels)
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
