"""Data sets: splits, scaling, and a sentence where one is missing."""

import numpy as np
import pytest

from reproduce import datasets


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv(datasets.FOLDER, str(tmp_path))
    return tmp_path


def test_without_a_folder_the_message_names_the_variable(monkeypatch):
    monkeypatch.delenv(datasets.FOLDER, raising=False)
    with pytest.raises(datasets.DatasetError, match=r"^Set NEARLINEAR_DATA to .*letter\.npz"):
        datasets.load("letter")
    assert not datasets.is_available("letter")


def test_without_the_file_the_message_says_how_to_fetch_it(folder):
    with pytest.raises(datasets.DatasetError, match=r"reproduce\.datasets fetch letter"):
        datasets.load("letter")


def test_sets_without_a_split_are_divided_by_seed(folder):
    rng = np.random.default_rng(0)
    np.savez(folder / "banana.npz", X=rng.random((53, 2)), y=np.repeat([1, -1], [24, 29]))
    split = datasets.load("banana", seed=3)
    assert (len(split.y_train), len(split.y_test)) == (35, 18)
    assert np.array_equal(split.X_train, datasets.load("banana", seed=3).X_train)
    assert not np.array_equal(split.X_train, datasets.load("banana", seed=4).X_train)


@pytest.mark.parametrize("scaling", ["standard", "global"])
def test_scaling_uses_the_training_part_alone(folder, scaling):
    rng = np.random.default_rng(0)
    X_train = rng.integers(0, 255, (200, 3)).astype(np.uint8)
    X_train[:, 2] = 7
    y = np.arange(200) % 2
    np.savez(folder / "mnist.npz", X_train=X_train, y_train=y, X_test=X_train + 1, y_test=y)
    split = datasets.load("mnist", scaling=scaling)
    assert split.X_train.dtype == np.float32
    np.testing.assert_allclose(split.X_train.mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(split.X_train[:, 2], 0, atol=1e-5)
    deviations = split.X_train[:, :2].std(axis=0)
    if scaling == "standard":
        np.testing.assert_allclose(deviations, 1, rtol=1e-5)
    else:
        ratio = X_train[:, 0].std() / X_train[:, 1].std()
        np.testing.assert_allclose(deviations[0] / deviations[1], ratio, rtol=1e-5)
    assert (split.X_test.mean(axis=0) > 0).all()


def test_limited_keeps_the_classes_in_proportion():
    split = datasets.sines(100, 50).limited(train_rows=40, test_rows=20)
    assert np.unique(split.y_train, return_counts=True)[1].tolist() == [20, 20]
    assert len(split.y_test) == 20
