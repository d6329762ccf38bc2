"""Sets that a user brings: read from files of stated names, passed over where there are none."""

import gzip

import numpy as np
from scipy.sparse import issparse, lil_array
from sklearn.datasets import dump_svmlight_file

from reproduce import datasets
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
