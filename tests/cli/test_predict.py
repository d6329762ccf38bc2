"""``nearlinear predict``, as a user would type it."""

import csv
import io
import os
import shlex
import signal
import subprocess
import sys
import tracemalloc
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas
import pytest
from forests import forest_and_rows, held
from grids import in_one_test
from scipy.sparse import csr_matrix
from sklearn.datasets import dump_svmlight_file
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import nearlinear
from nearlinear.cli import main
from nearlinear.cli._models import Scorer

NAMES = ["width", "height", "weight"]
SMALL = {"n_anchors": 6, "n_neighbors": 3, "random_state": 0}
LABELS = {
    "text": np.array(["apple", "pear, green", "plum"]),
    "whole": np.array([-1, 3, 10]),
    "truth": np.array([False, True]),
    "real": np.array([0.0, 2.0]),
    "one text": np.array(["no", "yes"]),
}


def rows(n_rows=60):
    X = np.random.default_rng(0).normal(5.0, 3.0, (n_rows, 3)).round(9)
    return X, (X[:, 0] > 5.0).astype(int) + (X[:, 1] > X[:, 2])


def frame_of(X, names=NAMES):
    return pandas.DataFrame(X, columns=names)


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Fitted pipelines and their files: made once, by kind of label or 'values'."""
    folder, found = tmp_path_factory.mktemp("models"), {}

    def make(kind="text", named=True):
        if (kind, named) not in found:
            X, classes = rows()
            model = nearlinear.LLSVMClassifier(**SMALL)
            if kind == "values":
                model, y = nearlinear.LDKLRegressor(1, max_iter=3, random_state=0), X @ [1, 2, 3]
            else:
                y = LABELS[kind][np.minimum(classes, len(LABELS[kind]) - 1)]
            pipeline = make_pipeline(StandardScaler(), model).fit(frame_of(X) if named else X, y)
            path = folder / f"{kind}{named}.nlm"
            nearlinear.save(pipeline, path)
            found[kind, named] = pipeline, str(path)
        return found[kind, named]

    return make


def table(folder, ending=".csv", X=None):
    path, X = folder / f"new{ending}", rows()[0] if X is None else X
    if ending in (".csv", ".tsv"):
        frame_of(X).to_csv(path, index=False, sep="\t" if ending == ".tsv" else ",")
    elif ending == ".parquet":
        frame_of(X).to_parquet(path)
    elif ending == ".npz":
        np.savez(path, X=X)
    else:
        dump_svmlight_file(X, np.zeros(len(X)), str(path), zero_based=False)
    return str(path)


def read(text):
    """Header and rows of what was written."""
    header, *found = csv.reader(io.StringIO(text))
    return header, found


def labels_of(model, X, named=True):
    return [str(label) for label in model.predict(frame_of(X) if named else X).tolist()]


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet", ".npz", ".svmlight"])
@pytest.mark.parametrize("named", [True, False], ids=["named", "unnamed"])
@pytest.mark.parametrize("n_rows", ["7", "20000"])
def test_every_table_gets_the_answers_of_the_model(models, tmp_path, capsys, ending, named, n_rows):
    model, file = models("text", named)
    assert main(["predict", file, table(tmp_path, ending), "--rows", n_rows]) == 0
    header, found = read(capsys.readouterr().out)
    assert header == ["prediction"]
    assert [row[0] for row in found] == labels_of(model, rows()[0], named)


@pytest.mark.parametrize("kind", LABELS)
def test_labels_are_written_as_they_were_given(models, tmp_path, capsys, kind):
    model, file = models(kind)
    assert main(["predict", file, table(tmp_path)]) == 0
    _, found = read(capsys.readouterr().out)
    assert [row[0] for row in found] == labels_of(model, rows()[0])
    assert {row[0] for row in found} == {str(label) for label in LABELS[kind].tolist()}


@pytest.mark.parametrize("kind", ["one text", "truth"])
def test_two_classes_have_one_score(models, tmp_path, capsys, kind):
    model, file = models(kind)
    assert main(["predict", file, table(tmp_path), "--scores"]) == 0
    header, found = read(capsys.readouterr().out)
    assert header == ["prediction", "score"]
    scores = np.array([float(row[1]) for row in found])
    np.testing.assert_allclose(scores, model.decision_function(frame_of(rows()[0])), rtol=1e-12)
    assert [row[0] for row in found] == labels_of(model, rows()[0])


@pytest.mark.parametrize("kind", ["text", "whole"])
def test_several_classes_have_a_score_each(models, tmp_path, capsys, kind):
    model, file = models(kind)
    assert main(["predict", file, table(tmp_path), "--scores"]) == 0
    header, found = read(capsys.readouterr().out)
    assert header == ["prediction", *(f"score_{label}" for label in LABELS[kind])]
    scores = np.array([[float(cell) for cell in row[1:]] for row in found])
    np.testing.assert_allclose(scores, model.decision_function(frame_of(rows()[0])), rtol=1e-12)


def test_values_are_written_with_all_digits(models, tmp_path, capsys):
    model, file = models("values")
    assert main(["predict", file, table(tmp_path)]) == 0
    header, found = read(capsys.readouterr().out)
    assert header == ["prediction"]
    values = np.array([float(row[0]) for row in found])
    np.testing.assert_allclose(values, model.predict(frame_of(rows()[0])), rtol=1e-12)


@pytest.mark.filterwarnings("ignore:Columns of X that were not seen")
def test_columns_are_taken_by_their_names(models, tmp_path, capsys):
    model, file = models()
    X, _ = rows()
    mixed = frame_of(X)[["weight", "width", "height"]]
    mixed.insert(1, "remark", ['it\'s, "so"'] * len(X))
    mixed["price"] = np.nan
    mixed.to_csv(tmp_path / "new.csv", index=False)
    assert main(["predict", file, str(tmp_path / "new.csv")]) == 0
    _, found = read(capsys.readouterr().out)
    assert [row[0] for row in found] == labels_of(model, X)


def test_a_model_without_names_takes_columns_in_their_order(models, tmp_path, capsys):
    model, file = models(named=False)
    X, _ = rows()
    frame_of(X, ["a", "b", "c"]).to_csv(tmp_path / "new.csv", index=False)
    assert main(["predict", file, str(tmp_path / "new.csv")]) == 0
    _, found = read(capsys.readouterr().out)
    assert [row[0] for row in found] == labels_of(model, X, named=False)


def test_a_file_is_written_whole(models, tmp_path, capsys):
    model, file = models()
    out = tmp_path / "answers.csv"
    out.write_text("old")
    data = table(tmp_path)
    assert main(["predict", file, data, "--out", str(out), "--rows", "7", "--force"]) == 0
    _, found = read(out.read_text(encoding="utf-8"))
    assert [row[0] for row in found] == labels_of(model, rows()[0])
    assert capsys.readouterr().out == ""
    assert {path.name for path in tmp_path.iterdir()} == {"new.csv", "answers.csv"}


def test_a_table_comes_from_standard_input(models, tmp_path, capsys, monkeypatch):
    model, file = models()
    with open(table(tmp_path), "rb") as data:
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=data))
        assert main(["predict", file, "-", "--rows", "7"]) == 0
    _, found = read(capsys.readouterr().out)
    assert [row[0] for row in found] == labels_of(model, rows()[0])


@pytest.mark.parametrize("scaling", [True, False], ids=["scaled", "not scaled"])
def test_a_model_without_a_pipeline_predicts_too(tmp_path, capsys, scaling):
    X, y = rows()
    model = nearlinear.LLSVMClassifier(**SMALL)
    model = (make_pipeline(StandardScaler(), model) if scaling else model).fit(X, y)
    nearlinear.save(model, tmp_path / "model.nlm")
    assert main(["predict", str(tmp_path / "model.nlm"), table(tmp_path)]) == 0
    _, found = read(capsys.readouterr().out)
    assert [row[0] for row in found] == labels_of(model, X, named=False)


@pytest.fixture
def refused(refused_command):
    return partial(refused_command, "predict")


def test_wide_sparse_rows_are_filled_in_few_at_a_time(tmp_path, capsys):
    """All of a piece of text would be some gigabytes."""
    rng, n_rows, n_features = np.random.default_rng(0), 2_000, 20_000
    columns = rng.integers(n_features, size=(n_rows, 5))
    X = csr_matrix((np.ones(columns.size), columns.ravel(), 5 * np.arange(n_rows + 1)))
    X.resize(n_rows, n_features)
    X.sum_duplicates()
    y = (columns[:, 0] > n_features // 2).astype(int)
    model = nearlinear.ClusteredSVMClassifier(2, random_state=0).fit(X[:40], y[:40])
    nearlinear.save(model, tmp_path / "model.nlm")
    dump_svmlight_file(X, y, str(tmp_path / "new.svmlight"), zero_based=False)
    tracemalloc.start()
    try:
        assert main(["predict", str(tmp_path / "model.nlm"), str(tmp_path / "new.svmlight")]) == 0
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    _, found = read(capsys.readouterr().out)
    assert [int(row[0]) for row in found] == model.predict(X).tolist()
    assert peak < 8 * n_rows * n_features * 0.75


BAD_TABLES = {
    "text": ("width,height,weight\n1,2,3\n1,zwei,3\n", "row 2, column 'height': 'zwei'"),
    "a gap": ("width,height,weight\n1,2,3\n1,2,\n", "row 2, column 'weight'"),
    "infinity": ("width,height,weight\n1,2,3\n-inf,2,3\n", "row 2, column 'width'"),
    "a missing column": ("width,weight\n1,2\n", "yet now missing: 'height'"),
    "no header": ("1,2,3\n4,5,6\n", "names"),
    "more values than names": ("width,height,weight\n1,2,3,4\n", "row 1: it has 4 values"),
    "a long row": ("width,height,weight\n1,2,3\n1,2,3,4\n", "row 2: it has 4 values"),
    "no rows": ("width,height,weight\n", "no rows"),
    "nothing": ("", "empty"),
}


@pytest.mark.parametrize("case", BAD_TABLES)
@pytest.mark.parametrize("to_file", [True, False], ids=["file", "standard output"])
def test_a_bad_table_is_one_line_that_says_where(models, tmp_path, refused, case, to_file):
    text, sentence = BAD_TABLES[case]
    data = tmp_path / "bad.csv"
    data.write_text(text)
    line = refused(models()[1], data, *(["--out", tmp_path / "out.csv"] if to_file else []))
    assert f"{data}" in line
    assert sentence in line


def test_a_bad_row_far_down_leaves_no_half_of_a_file(models, tmp_path, refused):
    data, out = tmp_path / "bad.csv", tmp_path / "out.csv"
    data.write_text("width,height,weight\n" + "1,2,3\n" * 50 + "1,x,3\n" + "1,2,3\n" * 50)
    out.write_text("old")
    line = refused(models()[1], data, "--out", out, "--rows", 10, "--force")
    assert f"{data}, row 51, column 'height': 'x'" in line
    assert out.read_text() == "old"


@pytest.mark.parametrize("n_columns", [2, 4])
@pytest.mark.parametrize("ending", [".npz", ".csv"])
def test_another_number_of_columns_is_refused(models, tmp_path, refused, n_columns, ending):
    data, X = tmp_path / f"new{ending}", np.ones((3, n_columns))
    if ending == ".npz":
        np.savez(data, X=X)
    else:
        frame_of(X, list("abcd")[:n_columns]).to_csv(data, index=False)
    line = refused(models(named=False)[1], data)
    assert f"{n_columns} columns" in line
    assert "takes 3" in line


def test_wider_svmlight_rows_are_refused(models, tmp_path, refused):
    data = tmp_path / "new.svmlight"
    data.write_text("0 1:1 9:1\n")
    assert str(data) in refused(models()[1], data)


@pytest.mark.filterwarnings("ignore:overflow encountered")
def test_numbers_that_scaling_makes_infinite_are_refused(models, tmp_path, refused):
    X = np.random.default_rng(0).standard_normal((40, 2)) * 1e-3
    model = make_pipeline(StandardScaler(), nearlinear.LLSVMClassifier(**SMALL))
    nearlinear.save(model.fit(X, X[:, 0] > 0), tmp_path / "model.nlm")
    np.savez(tmp_path / "new.npz", X=np.array([[1e307, 1.0]]))
    line = refused(tmp_path / "model.nlm", tmp_path / "new.npz")
    assert "new.npz" in line
    assert "too large" in line


def test_a_model_that_wants_a_second_matrix_is_refused(tmp_path, refused):
    X, y = rows()
    model = nearlinear.LMKLClassifier(n_copies=2, random_state=0)
    nearlinear.save(model.fit(X, y > 0, gating=X[:, :1]), tmp_path / "model.nlm")
    assert "second matrix" in refused(tmp_path / "model.nlm", table(tmp_path))


@pytest.mark.parametrize("name", ["folder.csv", "missing.csv", "table.xlsx"])
def test_what_is_no_table_is_refused(models, tmp_path, refused, name):
    (tmp_path / "folder.csv").mkdir()
    assert name in refused(models()[1], tmp_path / name)


@in_one_test("place", [3, 30, 200, -3])
def test_a_damaged_model_is_refused(models, tmp_path, refused, place):
    with open(models()[1], "rb") as file:
        data = bytearray(file.read())
    data[place] ^= 0xFF
    (tmp_path / "model.nlm").write_bytes(data)
    assert f"{tmp_path / 'model.nlm'}" in refused(tmp_path / "model.nlm", table(tmp_path))


@pytest.mark.parametrize("content", [b"", b"hello", None])
def test_what_is_no_model_is_refused(tmp_path, refused, content):
    path = tmp_path / "model.nlm"
    path.mkdir() if content is None else path.write_bytes(content)
    assert str(path) in refused(path, table(tmp_path))


def test_a_model_that_is_not_there_is_refused(tmp_path, refused):
    assert "no such file" in refused(tmp_path / "model.nlm", table(tmp_path))


@pytest.mark.parametrize("out", ["missing/out.csv", "folder", "new.csv/out.csv"])
def test_a_place_where_nothing_can_be_written_is_refused(models, tmp_path, refused, out):
    (tmp_path / "folder").mkdir()
    data = table(tmp_path)
    assert str(tmp_path / out) in refused(models()[1], data, "--out", tmp_path / out)


def test_a_folder_that_must_not_be_written_is_refused(models, tmp_path, refused, monkeypatch):
    data = table(tmp_path)
    # root may write everywhere, so the folder is shut by hand
    monkeypatch.setattr("os.access", lambda path, mode: mode != os.W_OK)
    assert "permission" in refused(models()[1], data, "--out", tmp_path / "out.csv")


def test_ctrl_c_leaves_the_earlier_answers(models, tmp_path, capsys, monkeypatch):
    answers, calls = Scorer.answers, []

    def interrupted(self, X, **wanted):
        calls.append(X)
        if len(calls) == 3:
            signal.raise_signal(signal.SIGINT)
        return answers(self, X, **wanted)

    monkeypatch.setattr(Scorer, "answers", interrupted)
    out = tmp_path / "out.csv"
    out.write_text("old")
    words = [models()[1], table(tmp_path), "--out", str(out), "--force", "--rows", "7"]
    assert main(["predict", *words]) == 130
    assert capsys.readouterr().err.splitlines() == ["nearlinear predict: interrupted"]
    assert out.read_text() == "old"
    assert {path.name for path in tmp_path.iterdir()} == {"new.csv", "out.csv"}


def test_a_disk_that_is_full_is_told(models, tmp_path, refused, monkeypatch):
    data, model = table(tmp_path), models()[1]

    def full(*arguments, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("nearlinear._files.os.fsync", full)
    line = refused(model, data, "--out", tmp_path / "out.csv")
    assert "cannot be written (No space left on device)" in line


@in_one_test("n_rows", ["0", "-3", "99999999999999999999"])
def test_a_number_of_rows_that_no_piece_has_is_refused(models, tmp_path, refused, n_rows):
    assert f"--rows {n_rows}" in refused(models()[1], table(tmp_path), "--rows", n_rows)


@pytest.mark.parametrize("out", ["table", "symbolic link", "hard link", "model"])
def test_an_input_is_never_overwritten(models, tmp_path, refused, out):
    data, model = tmp_path / "new.csv", tmp_path / "model.nlm"
    table(tmp_path)
    model.write_bytes(Path(models()[1]).read_bytes())
    (tmp_path / "soft.csv").symlink_to(data)
    (tmp_path / "hard.csv").hardlink_to(data)
    names = {"symbolic link": "soft.csv", "hard link": "hard.csv", "model": "model.nlm"}
    path = tmp_path / names.get(out, "new.csv")
    line = refused(model, data, "--out", path, "--force")
    assert f"{path} is the input" in line


def test_an_earlier_file_is_replaced_only_by_force(models, tmp_path, refused):
    (tmp_path / "out.csv").write_text("old")
    line = refused(models()[1], table(tmp_path), "--out", tmp_path / "out.csv")
    assert "out.csv exists (3 bytes" in line
    assert "--force" in line


def test_standard_output_is_no_input_either(models, tmp_path):
    data = table(tmp_path)
    before = Path(data).read_bytes()
    shown = type_in(f"nearlinear predict {models()[1]} {data} >> {data}; echo $?")
    assert shown.stdout == "2\n"
    assert "is the input" in shown.stderr
    assert Path(data).read_bytes() == before


@pytest.mark.filterwarnings("ignore:Columns of X that were not seen")
@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_ids_are_carried_through_as_they_are_written(models, tmp_path, capsys, ending):
    X, _ = rows(4)
    frame = frame_of(X).assign(id=["007", "NA", "", "a,b"], remark="x")
    data = tmp_path / f"new{ending}"
    frame.to_csv(data, index=False) if ending == ".csv" else frame.to_parquet(data)
    model, file = models()
    assert main(["predict", file, str(data), "--keep", "id,width", "--rows", "3"]) == 0
    header, found = read(capsys.readouterr().out)
    assert header == ["id", "width", "prediction"]
    assert [row[0] for row in found] == ["007", "NA", "", "a,b"]
    assert [float(row[1]) for row in found] == X[:, 0].tolist()
    assert [row[2] for row in found] == labels_of(model, X)


@pytest.mark.parametrize("column", ["nix", "prediction"])
def test_a_column_that_cannot_be_kept_is_refused(models, tmp_path, refused, column):
    frame_of(rows()[0]).assign(prediction=1).to_csv(tmp_path / "new.csv", index=False)
    assert column in refused(models()[1], tmp_path / "new.csv", "--keep", column)


def test_a_model_without_names_takes_the_columns_that_are_not_dropped(models, tmp_path, capsys):
    model, file = models(named=False)
    X, _ = rows()
    frame = frame_of(X)
    frame.insert(0, "id", [f"{k:03d}" for k in range(len(X))])
    frame.to_csv(tmp_path / "new.csv", index=False)
    words = ["predict", file, str(tmp_path / "new.csv"), "--drop", "id", "--keep", "id"]
    assert main(words) == 0
    _, found = read(capsys.readouterr().out)
    assert [row[0] for row in found] == frame["id"].tolist()
    assert [row[1] for row in found] == labels_of(model, X, named=False)


def type_in(command, **options):
    """What a shell shows of a command line."""
    line = command.replace("nearlinear", f"{shlex.quote(sys.executable)} -m nearlinear")
    return subprocess.run(
        ["bash", "-c", line], capture_output=True, text=True, timeout=120, **options
    )


def test_a_pipe_in_a_shell_may_be_left_early(models, tmp_path):
    model, file = models()
    command = f"cat {table(tmp_path)} | nearlinear predict {file} - --rows 1 | head -3"
    shown = type_in(f"set -o pipefail; {command}; echo $?")
    assert shown.stderr == ""
    _, found = read(shown.stdout)
    assert [row[0] for row in found] == [*labels_of(model, rows()[0])[:2], "0"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="has no full disk to write to")
def test_standard_output_that_is_full_is_one_line(models, tmp_path):
    shown = type_in(f"nearlinear predict {models()[1]} {table(tmp_path)} > /dev/full; echo $?")
    assert shown.stdout == "2\n"
    assert len(shown.stderr.splitlines()) == 1


def test_an_error_in_a_shell_is_one_line_and_code_2(models, tmp_path):
    (tmp_path / "bad.csv").write_text("width,height,weight\n1,2,x\n")
    shown = type_in(f"nearlinear predict {models()[1]} {tmp_path / 'bad.csv'}; echo $?")
    assert shown.stdout == "2\n"
    (line,) = shown.stderr.splitlines()
    assert "bad.csv, row 1, column 'weight': 'x' is no number" in line


# Reads its own peak once it is done: memory of the interpreter and libraries counts, too.
PEAK = """
import resource, sys
from nearlinear.cli import main
from nearlinear.cli._models import Scorer
code = main(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
sys.exit(code)
"""


def peak_kilobytes(*arguments):
    shown = subprocess.run(
        [sys.executable, "-c", PEAK, "predict", *map(str, arguments)],
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    return int(shown.stderr.split()[-1])


@pytest.mark.skipif(sys.platform != "linux", reason="counts memory in kilobytes")
def test_memory_does_not_grow_with_the_table(models, tmp_path):
    _, file = models()
    X = np.random.default_rng(1).normal(5.0, 3.0, (50_000, 3))
    few, many = tmp_path / "few.csv", tmp_path / "many.csv"
    lines = frame_of(X).to_csv(index=False).splitlines(keepends=True)
    few.write_text("".join(lines[:2001]))
    many.write_text("".join(lines))
    out = tmp_path / "out.csv"
    small = peak_kilobytes(file, few, "--rows", 1000, "--out", out, "--force")
    large = peak_kilobytes(file, many, "--rows", 1000, "--out", out, "--force")
    assert sum(1 for _ in out.open()) == 50_001
    # the table as numbers has 1.2 MB, as Python's lists of answers more than 10
    assert large - small < 6_000


def test_a_forest_takes_empty_cells(tmp_path, capsys):
    forest, X = forest_and_rows("missing", np.float64)
    model = held(forest)
    nearlinear.save(model, tmp_path / "model.nlm")
    pandas.DataFrame(X, columns=list("abcdef")).to_csv(tmp_path / "rows.csv", index=False)
    words = ["predict", str(tmp_path / "model.nlm"), str(tmp_path / "rows.csv"), "--scores"]
    assert main(words) == 0
    found = pandas.read_csv(io.StringIO(capsys.readouterr().out))
    np.testing.assert_allclose(found["score"], model.decision_function(X), rtol=1e-12)
    X[3, 1] = np.inf
    pandas.DataFrame(X, columns=list("abcdef")).to_csv(tmp_path / "rows.csv", index=False)
    assert main(words) == 2
    assert "row 4, column 'b': the value is infinite" in capsys.readouterr().err
