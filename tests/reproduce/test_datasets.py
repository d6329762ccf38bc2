"""Data sets: splits, scaling, files, OpenML, and an error where one is missing."""

import gzip

import numpy as np
import pytest
from scipy.sparse import issparse, lil_array
from sklearn.datasets import dump_svmlight_file

from reproduce import datasets, openml
from reproduce.llc_sapl import run
from reproduce.llc_sapl.methods import STUDY
from reproduce.protocol import RowStore


def bring_rcv1(folder, n_rows):
    """Words of which one tells the class, in files as LIBSVM has them, one packed."""
    rng = np.random.default_rng(0)
    y = np.arange(n_rows) % 2 * 2 - 1
    for opened, name in ((open, "rcv1.train"), (gzip.open, "rcv1.test.gz")):
        columns = np.column_stack([y + 2, rng.integers(10, 47236, (n_rows, 5))])
        X = lil_array((n_rows, 47236))
        X[np.arange(n_rows)[:, None], columns] = 1.0
        with opened(folder / name, "wb") as file:
            dump_svmlight_file(X.tocsr(), y, file, zero_based=False)


def test_a_set_is_run_where_its_files_are_and_passed_over_where_not(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv(datasets.FOLDER, str(tmp_path))
    results = tmp_path / "results"
    asked = ["--dataset", "rcv1", "--method", "linear", "csvm", "--seeds", "1"]
    asked += ["--results", str(results)]
    assert run.main(asked) == 0
    assert "rcv1 is not in" in capsys.readouterr().out
    assert not (results / "rows.csv").exists()

    bring_rcv1(tmp_path, n_rows=60)
    assert run.main(asked) == 0
    rows = RowStore(results / "rows.csv", STUDY.measured).rows()
    assert [(row["method"], row["n_train"]) for row in rows] == [("linear", 60), ("csvm", 60)]
    assert min(row["accuracy"] for row in rows) > 90
    split = STUDY.load_split("rcv1", seed=0)
    assert issparse(split.X_train) and split.X_train.shape == (60, 47236)
    assert set(split.y_test) == {-1, 1}


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


def test_a_paper_may_ask_for_its_own_number_of_training_rows(folder):
    X = np.arange(106.0).reshape(53, 2)
    np.savez(folder / "banana.npz", X=X, y=np.repeat([1, -1], [24, 29]))
    split = datasets.load("banana", train_rows=10)
    assert (len(split.y_train), len(split.y_test)) == (10, 43)


def test_halves_of_the_letters_are_divided_after_12000_rows(folder):
    letters = np.arange(20000) % 26
    np.savez(
        folder / "letter.npz",
        X_train=letters[:16000, None],
        y_train=letters[:16000],
        X_test=letters[16000:, None],
        y_test=letters[16000:],
    )
    split = datasets.load("letter_halves")
    assert (len(split.y_train), len(split.y_test)) == (12000, 8000)
    assert np.array_equal(split.y_test, np.where(letters[12000:] < 13, 1, -1))
    # The only feature is the letter: its order in the archive is kept.
    assert np.array_equal(np.argsort(split.X_test[:26, 0]), np.argsort(letters[12000:12026]))


def test_one_cover_type_stands_against_the_others(folder):
    y = np.repeat(np.arange(1, 8), 10).astype(np.int16)
    np.savez(folder / "covertype.npz", X=np.eye(70), y=y)
    split = datasets.load("covertype", train_rows=63)
    assert np.count_nonzero(split.y_train == 1) == 9
    assert np.count_nonzero(split.y_test == 1) == 1
    assert set(split.y_train) == {-1, 1}


def test_a_missing_archive_of_a_task_is_named_as_it_is_fetched(folder):
    with pytest.raises(datasets.DatasetError, match=r"reproduce\.datasets fetch usps`"):
        datasets.load("usps_halves")


def test_targets_of_a_regression_are_scaled_by_the_training_part(folder):
    rng = np.random.default_rng(0)
    y = (5 + 3 * rng.standard_normal(90)).astype(np.float32)
    np.savez(folder / "concrete.npz", X=rng.random((90, 2)), y=y)
    split = datasets.load("concrete", seed=1)
    assert split.is_regression
    assert (len(split.y_train), len(split.y_test)) == (60, 30)
    assert split.y_train.mean() == pytest.approx(0, abs=1e-6)
    assert split.y_train.std() == pytest.approx(1, rel=1e-6)
    spread = np.ptp(np.r_[split.y_train, split.y_test]) * split.target_scale
    assert spread == pytest.approx(np.ptp(y), rel=1e-5)


def test_held_out_rows_come_from_the_training_part():
    split = datasets.sines(100, 50)
    part = split.held_out(seed=0)
    assert (len(part.y_train), len(part.y_test)) == (160, 40)
    trained = {tuple(row) for row in split.X_train}
    assert trained == {tuple(row) for row in np.concatenate([part.X_train, part.X_test])}
    assert len(split.held_out(seed=0, max_rows=50).y_train) == 40


def test_limited_keeps_the_classes_in_proportion():
    split = datasets.sines(100, 50).limited(train_rows=40, test_rows=20)
    assert np.unique(split.y_train, return_counts=True)[1].tolist() == [20, 20]
    assert len(split.y_test) == 20
