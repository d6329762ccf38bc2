"""What OpenML sends is checked before it is stored."""

import numpy as np
import pytest

from reproduce import datasets, openml


@pytest.fixture
def answer(tmp_path, monkeypatch):
    """Set what OpenML answers; fetched archives go to a temporary folder."""
    monkeypatch.setenv(datasets.FOLDER, str(tmp_path))

    def answer(X, y):
        monkeypatch.setattr(openml, "fetch_openml", lambda **_: (X, y))

    return answer


def test_labels_that_begin_with_one_stay_as_they_are(answer, monkeypatch):
    monkeypatch.setitem(openml.SOURCES, "covertype", openml.Source(1, (6,), (2,), first_label=1))
    answer(np.eye(6), np.array(["1", "2", "3", "3", "2", "1"]))
    with np.load(openml.fetch("covertype")) as archive:
        assert archive["y"].tolist() == [1, 2, 3, 3, 2, 1]


def test_a_regression_is_known_by_the_mean_of_its_targets(answer, monkeypatch):
    monkeypatch.setitem(openml.SOURCES, "concrete", openml.Source(1, (3,), target_mean=2.5))
    answer(np.eye(3), np.array([2.0, 2.5, 3.0]))
    with np.load(openml.fetch("concrete")) as archive:
        assert archive["y"].dtype == np.float32
    answer(np.eye(3), np.array([2.0, 2.5, 4.0]))
    with pytest.raises(datasets.DatasetError, match="not in the order of its makers"):
        openml.fetch("concrete")


def test_another_share_of_the_first_class_is_refused(answer, monkeypatch):
    monkeypatch.setitem(openml.SOURCES, "usps", openml.Source(1, (3, 2), (1, 1)))
    answer(np.eye(5), np.array(["0", "1", "2", "0", "1"]))
    with np.load(openml.fetch("usps")) as archive:
        assert archive["y_train"].tolist() == [0, 1, 2]
    answer(np.eye(5), np.array(["0", "0", "2", "1", "1"]))
    with pytest.raises(datasets.DatasetError, match="not in the order of its makers"):
        openml.fetch("usps")
