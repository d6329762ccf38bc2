"""``nearlinear fit`` of tables larger than --max-memory."""

import json

import numpy as np
import pytest
from cli.fruit import NAMES, frame_of, rows
from sklearn.datasets import dump_svmlight_file

import nearlinear
from nearlinear.cli import main

QUICK = ["--set", "max_iter=3", "--max-memory", "1.4MB"]


@pytest.fixture
def table(tmp_path):
    X, y = rows(n_rows=4000)
    frame_of(X, y).to_parquet(tmp_path / "fruit.parquet", row_group_size=200)
    return tmp_path / "fruit.parquet", X, y


def fitted(path, *words):
    out = path.parent / "model.nlm"
    assert main(["fit", str(path), "--out", str(out), "--json", *QUICK, *words]) == 0
    return nearlinear.load(out)


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_a_large_raw_table_is_searched_in_blocks_without_being_told(tmp_path, capsys, ending):
    X, y = rows(n_rows=60_000)
    frame = frame_of(X, y)
    frame["side"] = np.where(np.arange(len(y)) % 3 == 0, "left", "right")
    frame["day"] = "2024-02-29"
    frame.loc[::5, NAMES[0]] = None
    path = tmp_path / f"fruit.{ending}"
    if ending == "csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_parquet(path, row_group_size=1000)
    words = ["fit", str(path), "--target", "kind", "--out", str(tmp_path / "model.nlm"), "--json"]
    assert main([*words, "--max-memory", "3MB", "--families", "linear"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["method"] == "NearLinearClassifier" and told["rows"] == 60_000
    assert 256 <= told["blocks_of_rows"] < 1000 and told["front"][-1]["fitted_to"] == "all rows"
    assert sum(one["missing"] for one in told["columns"]) == 12_000
    model = nearlinear.load(tmp_path / "model.nlm")
    assert model.score(frame.drop(columns="kind"), y) > 0.6


@pytest.mark.parametrize("search", [True, False])
def test_options_of_csv_files_apply_to_blocks(tmp_path, capsys, search):
    X, y = rows(n_rows=60_000)
    frame = frame_of(X, y, ["größe", "b", "c"])
    frame.to_csv(tmp_path / "t.csv", index=False, sep=";", decimal=",", encoding="latin-1")
    out = tmp_path / "model.nlm"
    words = ["--target", "kind", "--decimal", ",", "--encoding", "latin-1", "--out", str(out)]
    method = ["--families", "linear"] if search else ["--method", "llcsapl", "--set", "n_anchors=4"]
    size = ["--max-memory", "2MB" if search else "10MB"]
    assert main(["fit", str(tmp_path / "t.csv"), *words, *method, *size, "--json"]) == 0
    assert "blocks_of_rows" in json.loads(capsys.readouterr().out)
    model = nearlinear.load(out)
    assert list(model.feature_names_in_) == ["größe", "b", "c"]
    assert model.score(frame.drop(columns="kind"), y) > 0.6


@pytest.mark.parametrize(
    "line, message",
    [
        ("1,2\n", "t.csv, row 20001: it has 2 values, the header 4 names"),
        ("1,é,3,x\n", "t.csv: the encoding is not utf-8 from row"),
        ("1,many,3,x\n", "t.csv, row 20001, column 'height': 'many' is not a number"),
    ],
)
def test_errors_in_blocks_name_file_row_and_column(tmp_path, refused_command, line, message):
    X, y = rows(n_rows=20_000)
    path = tmp_path / "t.csv"
    frame_of(X, y).to_csv(path, index=False)
    path.write_bytes(path.read_bytes() + line.encode("latin-1"))
    words = ["--target", "kind", "--method", "llcsapl", "--max-memory", "1.4MB", "--json"]
    told = refused_command("fit", path, "--out", tmp_path / "m.nlm", *words)
    assert message in told and told.count("t.csv") == 1


def test_a_folder_some_columns_and_another_method(table, tmp_path):
    (tmp_path / "parts").mkdir()
    path = table[0].rename(tmp_path / "parts" / "one.parquet")
    words = ["--target", "kind", "--method", "llcsapl", "--drop", NAMES[-1], "--no-scaling"]
    model = fitted(path.parent, *words)
    assert list(model.feature_names_in_) == NAMES[:-1]


def test_sparse_rows_in_blocks(tmp_path):
    X, y = rows(n_rows=4000)
    labels = np.unique(y, return_inverse=True)[1]
    dump_svmlight_file(X, labels, str(tmp_path / "t.svm"), zero_based=False)
    model = fitted(tmp_path / "t.svm", "--method", "llcsapl", "--set", "n_anchors=2")
    assert model.n_features_in_ == X.shape[1]


@pytest.mark.parametrize(
    "words, message",
    [
        (["--target", "kind", "--method", "svmknn"], "learns from tables in memory"),
        (["--target", "kind", "--families", "linear"], "too few to search on"),
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
