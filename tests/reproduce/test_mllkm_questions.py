"""The reviewers' questions: what the machine with h = 1 is, and what is counted."""

import numpy as np
import pytest
from sklearn.datasets import make_moons

from nearlinear import MLLKMClassifier
from reproduce.mllkm import questions
from reproduce.mllkm.questions import GAMMAS, TASKS, at_gamma
from reproduce.protocol import RowStore


@pytest.fixture(scope="module")
def moons():
    return make_moons(120, noise=0.15, random_state=0)


def test_with_h_1_the_machine_is_a_line(moons):
    model = questions.without_map({"C": [10.0]}).fit(*moons)
    first, last = np.array([[-2.0, 1.0]]), np.array([[3.0, -2.0]])
    between = model.decision_function(0.25 * first + 0.75 * last)
    ends = [model.decision_function(row) for row in (first, last)]
    assert between == pytest.approx(0.25 * ends[0] + 0.75 * ends[1], rel=1e-6)


def test_kernels_are_counted_at_the_bandwidths_they_have(moons):
    model = MLLKMClassifier(bandwidths=[0.3, 10.0]).fit(*moons)
    columns = questions.gamma_columns(model, moons[0])
    kernels = {gamma: columns[at_gamma("kernels", gamma)] for gamma in GAMMAS}
    assert sum(kernels.values()) == model.n_kernels_ == kernels[0.3] + kernels[10.0]
    assert columns[at_gamma("weight", 10.0)] > 0.5
    by_feature = MLLKMClassifier(per_feature=True, n_anchors=20).fit(*moons)
    assert questions.n_exponentials(by_feature) == 2 * by_feature.n_kernels_
    assert questions.n_exponentials(MLLKMClassifier("square").fit(*moons)) == 0


def test_tasks_are_balanced_and_their_test_rows_are_others():
    for make in TASKS.values():
        split = make(seed=1)
        assert 0.35 < np.mean(split.y_test == 1) < 0.65
        trained = {tuple(row) for row in split.X_train}
        assert not trained & {tuple(row) for row in split.X_test}


def test_shares_of_bandwidths_are_means_over_rows():
    empty = {at_gamma("kernels", gamma): 0 for gamma in GAMMAS}
    rows = [empty | {"kernels_3": 4}, empty | {"kernels_3": 1, "kernels_10": 1}]
    shares = questions.gamma_shares(rows, "kernels")
    assert shares[GAMMAS.index(3.0)] == pytest.approx(0.75)
    assert shares.sum() == pytest.approx(1.0)


def test_the_tables_tell_work_per_kernel_and_large_fits(tmp_path):
    store = RowStore(tmp_path / questions.ROWS, questions.COLUMNS)
    small = {"accuracy": 90.0, "n_kernels": 4, "n_support": 1, "n_train": 100, "n_test": 50}
    small |= {"multiply_adds": 276, "exponentials": 4, "predict_us_per_row": 0.048}
    small |= {at_gamma("kernels", gamma): int(gamma == 3.0) for gamma in GAMMAS}
    large = {"accuracy": 80.0, "n_kernels": 7, "n_support": 9, "n_train": 522910}
    large |= {"fit_seconds": 60.0, "fit_bytes": 2**21}
    for dataset, method, row in (("sonar", "Gaussian map", small), ("covertype", "batch", large)):
        key = {"dataset": dataset, "method": method, "seed": 0, "parameters": {}}
        store.get_or_add(key, lambda row=row: row | {"version": "0"})
    questions.write(tmp_path)
    text = (tmp_path / "questions.md").read_text("utf-8")
    assert "| sonar | Gaussian map | 69 | 1 | 12.0 |" in text
    assert "| sonar | 0 | 0 | 0 | 0 | 100 | 0 | 0 | 0 |" in text
    assert "| covertype | batch | 522,910 | 80.0 | 7 | 60 | 2 |" in text
