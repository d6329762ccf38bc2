"""Rows of files: .npy, Parquet, CSV and svmlight give what the whole file holds."""

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from nearlinear.streams import from_arrays, from_svmlight, from_tables, svmlight

pandas = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    numbers = rng.standard_normal((500, 3)).round(3)
    frame = pandas.DataFrame(numbers, columns=["a", "b", "c"])
    frame["whole"] = rng.integers(9, size=500)
    frame["weight"] = rng.random(500).round(2)
    frame["kind"] = rng.choice(["x", "y", "z"], 500)
    return frame


def read(source):
    blocks = list(source)
    assert all(block.X.shape[0] <= source.block_rows for block in blocks)
    return [np.concatenate(column) for column in zip(*blocks, strict=True)]


def write(frame, folder, form):
    if form == "folder":
        for number, part in enumerate(np.array_split(np.arange(500), 3)):
            frame.iloc[part].to_parquet(folder / f"{number}.parquet")
        return folder
    path = folder / f"table.{form}"
    if form == "parquet":
        frame.to_parquet(path, row_group_size=60)
    else:
        frame.to_csv(path, index=False, sep="\t" if form == "tsv" else ",")
    return path


@pytest.mark.parametrize("form", ["parquet", "folder", "csv", "tsv"])
def test_a_table_in_blocks_has_all_its_cells(frame, tmp_path, form):
    path = write(frame, tmp_path, form)
    source = from_tables(path, "kind", weight="weight", block_rows=50, dtype=np.float64)
    for _ in range(2):
        X, y, weight = read(source)
        assert np.array_equal(X, frame[["a", "b", "c", "whole"]])
        assert np.array_equal(y, frame["kind"]) and np.array_equal(weight, frame["weight"])
    assert source.n_parts == {"parquet": 9, "folder": 3}.get(form, 1)


def test_a_column_of_whole_numbers_may_go_on_with_others(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,y\n" + "1,0\n" * 200_000 + "2.5,1\n")
    X, y = (np.concatenate(part) for part in list(zip(*from_tables(path, "y"), strict=True))[:2])
    assert X[-1, 0] == 2.5 and y[-1] == 1


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"target": "no"}, "no column 'no'"),
        ({"target": "a"}, "column 'kind': it holds"),
        ({"target": "a", "columns": ["b", "no"]}, "no column 'no'"),
    ],
)
def test_what_is_no_table_of_numbers_is_refused(frame, tmp_path, settings, message):
    with pytest.raises(ValueError, match=message):
        from_tables(write(frame, tmp_path, "parquet"), **settings)


def test_a_damaged_table_is_a_sentence_with_its_name(frame, tmp_path):
    path = write(frame, tmp_path, "csv")
    path.write_text(path.read_text() + "1,2,3,4,0.5,x,more\n")
    with pytest.raises(ValueError, match=r"table\.csv"):
        list(from_tables(path, "kind"))


@pytest.mark.parametrize("column", ["a", "y"])
def test_a_string_among_numbers_is_named_by_file_row_and_column(tmp_path, column):
    path = tmp_path / "t.csv"
    numbers = np.arange(3000)
    table = pandas.DataFrame({"a": numbers / 2, "y": numbers}).astype({column: object})
    table.loc[2500, column] = "many"
    table.to_csv(path, index=False)
    source = from_tables(path, "y", block_rows=100)
    with pytest.raises(ValueError, match=rf"t\.csv, row 2501, column '{column}': 'many' is not"):
        list(source)


def test_the_delimiter_of_a_csv_file_is_inferred(frame, tmp_path):
    frame.to_csv(tmp_path / "t.csv", index=False, sep=";")
    X, _, _ = read(from_tables(tmp_path / "t.csv", "kind", weight="weight", dtype=np.float64))
    assert np.array_equal(X, frame[["a", "b", "c", "whole"]])


def test_csv_files_with_other_columns_are_an_error(frame, tmp_path):
    frame.to_csv(tmp_path / "1.csv", index=False)
    frame.drop(columns="b").to_csv(tmp_path / "2.csv", index=False)
    with pytest.raises(ValueError, match=r"2\.csv: the columns differ from those of .*1\.csv"):
        list(from_tables(tmp_path, "kind"))


def test_mapped_files_are_read_a_part_at_a_time(tmp_path):
    X, y = np.random.default_rng(0).integers(9, size=(300, 4)), np.arange(300)
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    source = from_arrays(tmp_path / "X.npy", tmp_path / "y.npy", block_rows=32)
    assert isinstance(source.X, np.memmap)
    found = list(source)
    assert {block.X.dtype for block in found} == {np.dtype("float32")}
    assert np.array_equal(np.concatenate([b.X for b in found]), X)
    assert np.array_equal(np.concatenate([b.y for b in found]), y)


def test_svmlight_files_are_read_in_stretches_of_lines(tmp_path, monkeypatch):
    monkeypatch.setattr(svmlight, "_PART_BYTES", 97)  # lines that lie in two stretches
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 5)) * (rng.random((60, 5)) < 0.4), np.arange(60) % 3
    dump_svmlight_file(X, y, str(tmp_path / "t.svm"), zero_based=False)
    source = from_svmlight(tmp_path / "t.svm", dtype=np.float64)
    assert source.n_parts > 10 and source.n_features == 5
    found = list(source)
    assert np.allclose(np.vstack([block.X.toarray() for block in found]), X)
    assert np.array_equal(np.concatenate([block.y for block in found]), y)
