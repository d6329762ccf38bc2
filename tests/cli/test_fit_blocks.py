"""``nearlinear fit`` of tables larger than --max-memory."""

import json

import numpy as np
import pytest
from cli.fruit import NAMES, frame_of, rows
from sklearn.datasets import dump_svmlight_file

import nearlinear
from nearlinear.cli import main

QUICK = ["--set", "max_iter=3", "--max-memory", "40kB"]


@pytest.fixture
def table(tmp_path):
    X, y = rows(n_rows=4000)
    frame_of(X, y).to_parquet(tmp_path / "fruit.parquet", row_group_size=200)
    return tmp_path / "fruit.parquet", X, y


def fitted(path, *words):
    out = path.parent / "model.nlm"
    assert main(["fit", str(path), "--out", str(out), "--json", *QUICK, *words]) == 0
    return nearlinear.load(out)


def test_a_large_table_is_fitted_in_blocks_without_being_told(table, capsys):
    path, X, y = table
    model = fitted(path, "--target", "kind")
    told = json.loads(capsys.readouterr().out)
    assert told["method"] == "LDKLClassifier" and told["rows"] == 4000
    assert 256 <= told["blocks_of_rows"] < 1000
    assert model.score(frame_of(X, y)[NAMES], y) > 0.8
    assert list(model[0].feature_names_in_) == NAMES


def test_a_folder_some_columns_and_another_method(table, tmp_path):
    (tmp_path / "parts").mkdir()
    path = table[0].rename(tmp_path / "parts" / "one.parquet")
    words = ["--target", "kind", "--method", "llsvm", "--drop", NAMES[-1], "--no-scaling"]
    model = fitted(path.parent, *words)
    assert list(model.feature_names_in_) == NAMES[:-1]


def test_sparse_rows_in_blocks(tmp_path):
    X, y = rows(n_rows=4000)
    labels = np.unique(y, return_inverse=True)[1]
    dump_svmlight_file(X, labels, str(tmp_path / "t.svm"), zero_based=False)
    model = fitted(tmp_path / "t.svm", "--method", "llcsapl", "--set", "n_anchors=5")
    assert model.n_features_in_ == X.shape[1]


@pytest.mark.parametrize(
    "words, message",
    [
        (["--target", "kind", "--method", "svmknn"], "learns from tables in memory"),
        (["--target", "kind", "--max-times-linear", "5"], "needs all rows at once"),
        (["--target", "kind", "--hold-out", "0.2"], "is for tables in memory"),
        (["--target", "kind", "--report", "page.html"], "--report: is for tables in memory"),
        (["--target", "none"], "no column 'none'"),
        ([], "with --target"),
    ],
)
def test_what_blocks_cannot_do_is_one_line(table, refused_command, words, message):
    out = table[0].parent / "model.nlm"
    line = refused_command("fit", table[0], "--out", out, "--max-memory", "40kB", "--json", *words)
    assert message in line
