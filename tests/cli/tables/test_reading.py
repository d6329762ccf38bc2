"""Tables of every kind give the same rows, and say where they are wrong."""

import builtins
import io
import sys
from types import SimpleNamespace

import numpy as np
import pandas
import pytest
from grids import in_one_test
from scipy.sparse import issparse
from sklearn.datasets import dump_svmlight_file

from nearlinear import _csv
from nearlinear.cli._errors import CommandError
from nearlinear.cli.tables.cells import numbers
from nearlinear.cli.tables.reading import STDIN, kind_of, pieces, whole

NAMES = ["width", "height", "weight"]
N_ROWS = 11


def values():
    """Rows with zeros, whole numbers, and numbers of all sizes."""
    X = np.random.default_rng(0).standard_normal((N_ROWS, 3)).round(9)  # as svmlight writes them
    X[0], X[1, 1], X[2] = [0.0, 1.0, -7.0], 0.0, [1e-9, 1e12, 0.1]
    return X


LABELS = np.arange(N_ROWS) % 3


def write(folder, ending, X=None, y=LABELS, names=NAMES):
    """A table with the column ``kind`` last, or the array y."""
    X, path = values() if X is None else X, folder / f"table{ending}"
    frame = pandas.DataFrame(X, columns=names).assign(kind=y)
    if ending in (".csv", ".txt", ".tsv"):
        frame.to_csv(path, index=False, sep="\t" if ending == ".tsv" else ",")
    elif ending in (".parquet", ".pq"):
        frame.to_parquet(path, row_group_size=4)
    elif ending == ".npz":
        np.savez(path, X=X, y=y)
    else:
        dump_svmlight_file(X, y, str(path), zero_based=False)
    return path


def rows_of(piece, source="table"):
    found = numbers(piece.values, piece.names, source, piece.first)
    return found.toarray() if issparse(found) else found


NAMED = [".csv", ".txt", ".tsv", ".parquet", ".pq"]
UNNAMED = [".npz", ".svmlight", ".libsvm", ".svm"]
each_ending = pytest.mark.parametrize("ending", NAMED + UNNAMED)
each_named = pytest.mark.parametrize("ending", NAMED)


@each_ending
def test_a_table_is_read_whole(tmp_path, ending):
    path = write(tmp_path, ending)
    piece = whole(path, "kind" if ending in NAMED else None)
    np.testing.assert_array_equal(rows_of(piece), values())
    np.testing.assert_array_equal(piece.target, LABELS)
    assert piece.names == (NAMES if ending in NAMED else None)


@each_ending
@pytest.mark.parametrize("n_rows", [1, 4, N_ROWS, 1000])
def test_pieces_are_the_table_and_know_their_first_row(tmp_path, ending, n_rows):
    path, found, next_row = write(tmp_path, ending), [], 1
    for piece in pieces(path, target="kind" if ending in NAMED else None, n_rows=n_rows):
        assert piece.first == next_row
        found.append(rows_of(piece))
        assert 1 <= len(found[-1]) <= n_rows
        next_row += len(found[-1])
    np.testing.assert_array_equal(np.vstack(found), values())


@each_ending
def test_a_table_is_known_by_its_ending_whatever_its_case(ending):
    assert kind_of(f"TABLE{ending.upper()}") == kind_of(f"table{ending}")


@each_named
def test_rows_lie_in_memory_as_those_of_an_array_do(tmp_path, ending):
    """The last bits of a model depend on it."""
    assert rows_of(whole(write(tmp_path, ending), "kind")).flags.c_contiguous


@each_named
def test_numbers_are_read_to_the_last_bit(tmp_path, ending):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((400, 3)) * 10.0 ** rng.integers(-12, 12, (400, 3))
    piece = whole(write(tmp_path, ending, X, np.arange(400)), "kind")
    np.testing.assert_array_equal(rows_of(piece), X)


def test_standard_input_is_csv(tmp_path, monkeypatch):
    text = write(tmp_path, ".csv").read_bytes()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text)))
    found = [rows_of(piece) for piece in pieces(STDIN, target="kind", n_rows=4)]
    np.testing.assert_array_equal(np.vstack(found), values())


@each_named
@pytest.mark.parametrize(
    "labels",
    [
        np.array(["red", "green", "blue, or so"] * 4)[:N_ROWS],
        np.array([True, False] * 6)[:N_ROWS],
        np.arange(N_ROWS) % 2 * 10 - 5,
        np.linspace(-1.0, 1.0, N_ROWS),
    ],
    ids=["text", "truth", "whole", "real"],
)
def test_targets_keep_their_type(tmp_path, ending, labels):
    target = whole(write(tmp_path, ending, y=labels), "kind").target
    assert target.tolist() == labels.tolist()
    assert {type(label) for label in target.tolist()} == {type(labels.tolist()[0])}


def test_whole_labels_of_svmlight_stay_whole(tmp_path):
    assert whole(write(tmp_path, ".svmlight"), None).target.tolist() == LABELS.tolist()
    assert whole(write(tmp_path, ".svmlight"), None).target.dtype.kind == "i"


def test_real_targets_of_svmlight_stay_real(tmp_path):
    y = np.linspace(-1.0, 1.0, N_ROWS)
    target = whole(write(tmp_path, ".svmlight", y=y), None).target
    np.testing.assert_allclose(target, y, atol=1e-12)


def test_columns_of_truth_values_and_whole_numbers_are_numbers(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b,kind\nTrue,1,x\nFalse,-3,y\n")
    np.testing.assert_array_equal(rows_of(whole(path, "kind")), [[1.0, 1.0], [0.0, -3.0]])


def test_spaces_after_commas_and_a_mark_of_the_encoding_do_no_harm(tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(b"\xef\xbb\xbfa, b, kind\r\n1, 2, x\r\n3, 4, y\r\n")
    piece = whole(path, "kind")
    assert piece.names == ["a", "b"]
    assert piece.target.tolist() == ["x", "y"]
    np.testing.assert_array_equal(rows_of(piece), [[1.0, 2.0], [3.0, 4.0]])


def refusal(path, target=None, n_rows=None, n_features=None):
    """The sentence with which a table is refused, wherever that shows."""
    options = {"target": target, "n_rows": n_rows, "n_features": n_features}
    with pytest.raises(CommandError) as refused:
        for piece in pieces(path, **options):
            rows_of(piece, path)
    text = str(refused.value)
    assert len(text.splitlines()) == 1
    return text


BAD_CELLS = {
    "text": ("2,zwei,3", "'zwei' is no number"),
    "a gap": ("2,,3", "missing"),
    "not a number": ("2,nan,3", "missing"),
    "infinity": ("2,inf,3", "infinite"),
    "too large": ("2,1e999,3", "infinite"),
    "two numbers": ('2,"1 2",3', "'1 2' is no number"),
    "a comma for a point": ('2,"1,5",3', "'1,5' is no number"),
}


@pytest.mark.parametrize("cell", BAD_CELLS)
@pytest.mark.parametrize("n_rows", [None, 2, 3], ids=["whole", "twos", "threes"])
def test_a_bad_cell_is_named_by_row_and_column(tmp_path, cell, n_rows):
    line, sentence = BAD_CELLS[cell]
    path = tmp_path / "table.csv"
    path.write_text(f"a,b,c\n1,2,3\n1,2,3\n1,2,3\n1,2,3\n{line}\n1,2,3\n")
    text = refusal(path, n_rows=n_rows)
    assert text.startswith(f"{path}, row 5, column 'b': ")
    assert sentence in text


def test_a_gap_among_truth_values_is_the_bad_cell(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b\nTrue,1\n,2\n")
    assert refusal(path).startswith(f"{path}, row 2, column 'a': the value is missing")


@in_one_test(
    ("column", "row"),
    [
        (pandas.to_datetime(["2020-01-01"] * 3), 1),
        (pandas.to_timedelta([1, 2, 3]), 1),
        (pandas.Categorical(["1", "b", "1"]), 2),
        (pandas.array([1, None, 3], dtype="Int64"), 2),
        ([[1.0], [2.0], [3.0]], 1),
        ([b"1", b"x", b"3"], 2),
    ],
)
def test_a_bad_parquet_column_is_named(tmp_path, column, row):
    path = tmp_path / "table.parquet"
    pandas.DataFrame({"a": [1.0, 2.0, 3.0], "b": column}).to_parquet(path)
    assert refusal(path).startswith(f"{path}, row {row}, column 'b': ")


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("n_rows", [None, 2])
def test_a_bad_number_of_an_array_is_named(tmp_path, bad, n_rows):
    X = values()
    X[4, 1] = bad
    text = refusal(write(tmp_path, ".npz", X), n_rows=n_rows)
    assert "row 5, column 1: the value is missing or infinite" in text


@pytest.mark.parametrize("bad", ["nan", "inf", "-inf"])
@pytest.mark.parametrize("n_rows", [None, 1])
def test_a_bad_number_of_svmlight_is_named(tmp_path, bad, n_rows):
    path = tmp_path / "table.svmlight"
    path.write_text(f"1 1:2 3:4\n0 2:1\n1 1:1 3:{bad}\n")
    assert "row 3, feature 3: the value is missing or infinite" in refusal(path, n_rows=n_rows)


@each_named
@pytest.mark.parametrize("n_rows", [None, 2])
def test_a_missing_target_is_named(tmp_path, ending, n_rows):
    labels = np.array(["x", "y", None, "x"] * 3, dtype=object)[:N_ROWS]
    text = refusal(write(tmp_path, ending, y=labels), "kind", n_rows)
    assert "row 3, column 'kind': the target is missing" in text


@each_named
def test_an_unknown_target_is_refused_with_the_columns_there_are(tmp_path, ending):
    text = refusal(write(tmp_path, ending), "price")
    assert "'price'" in text
    assert "width, height, weight, kind" in text


def test_a_table_whose_target_is_not_named_is_refused(tmp_path):
    with pytest.raises(CommandError, match="--target"):
        whole(write(tmp_path, ".csv"), None)


@pytest.mark.parametrize("ending", [".npz", ".svmlight"])
def test_a_target_that_such_a_table_cannot_have_is_refused(tmp_path, ending):
    assert "target" in refusal(write(tmp_path, ending), "price")


@pytest.mark.parametrize("first", ["1,2,3,4", "x,1,2,3"])
def test_a_first_row_that_is_longer_than_the_header_is_refused(tmp_path, first):
    """Columns would move by one."""
    path = tmp_path / "table.csv"
    path.write_text(f"a,b,c\n{first}\n1,2,3,4\n")
    text = refusal(path)
    assert "row 1" in text
    assert "4 values" in text
    assert "3 names" in text


SHORT = {
    "plain": "a,b,c\n1,2,3\n1,2\n1,2,3\n",
    "at the end": "a,b,c\n1,2,3\n1,2",
    "quoted": 'a,b,c\n"1,5","2\n0",3\n"1,5",2\n1,2,3\n',
    "a quote inside": 'a,b,c\n5" pipe,2,3\n5" pipe,2\n1,2,3\n',
    "carriage returns": "a,b,c\r\n1,2,3\r\n1,2\r\n",
    "blank before": "a,b,c\n\n1,2\n1,2,3\n",
}


@in_one_test("text", SHORT.values())
@in_one_test("n_rows", [None, 1])
def test_a_row_that_is_shorter_than_the_header_is_refused(tmp_path, text, n_rows):
    path = tmp_path / "table.csv"
    path.write_text(text, newline="")
    assert "row 2: it has 2 values, the header 3 names" in refusal(path, n_rows=n_rows)


EVEN = {
    "a,b,c\n,,\n1,,\n": 2,
    'a,"b,\nc",d\n"1,5","2\n0",3\n"x ""y"", z",2,3\n': 2,
    'a,b,c\n5" pipe,2,3\n6" pipe,2,3\n': 2,
    "a,b,c\n1,2,3\n\n1,2,3\n\n\n": 3,  # a blank line is a row of missing cells
    "a\n1\n\n2\n": 3,
    "a,b,c\r1,2,3\r1,2,3\r": 2,
}


@in_one_test("text", EVEN)
@in_one_test("longest", [1 << 20, 10])
def test_rows_as_long_as_the_header_are_read(tmp_path, text, longest, monkeypatch):
    monkeypatch.setattr(_csv, "_LONGEST_LINE", longest)  # longer lines are not looked at
    path = tmp_path / "table.csv"
    path.write_text(text, newline="")
    assert sum(len(piece.values) for piece in pieces(path)) == EVEN[text]


@in_one_test("n_rows", [None, 1, 2])
def test_a_later_row_that_is_longer_than_the_header_is_refused(tmp_path, n_rows):
    path = tmp_path / "table.csv"
    path.write_text("a,b,c\n1,2,3\n1,2,3\n1,2,3,4\n")
    assert "row 3: it has 4 values, the header 3 names" in refusal(path, n_rows=n_rows)


@in_one_test("head", ["1,2,3", "1.5,1.5,-2e3", "0,0,0"])
def test_numbers_where_the_names_belong_are_refused(tmp_path, head):
    """Or the first row would be lost."""
    path = tmp_path / "table.csv"
    path.write_text(f"{head}\n1,2,3\n1,2,3\n")
    assert "names" in refusal(path)


@in_one_test("n_rows", [None, 2, 100])
def test_an_empty_line_is_a_missing_value_and_not_skipped(tmp_path, n_rows):
    """Or later answers would belong to other rows."""
    path = tmp_path / "table.csv"
    path.write_text("a\n1\n2\n\n4\n")
    assert refusal(path, n_rows=n_rows).startswith(f"{path}, row 3, column 'a': ")


def test_a_last_row_without_values_is_not_forgotten(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,2\n,\n")
    assert refusal(path).startswith(f"{path}, row 2, column 'a': ")


@in_one_test("n_rows", [None, 1, 2, 3, 100])
def test_an_empty_line_at_the_end_is_no_row(tmp_path, n_rows):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,2\n3,4\n\n")
    found = np.vstack([rows_of(piece) for piece in pieces(path, n_rows=n_rows)])
    np.testing.assert_array_equal(found, [[1.0, 2.0], [3.0, 4.0]])


@in_one_test(
    ("ending", "content"),
    [
        (".csv", b""),
        (".csv", b"a,b,c\n"),
        (".tsv", b"a\tb\n"),
        (".svmlight", b""),
        (".svmlight", b"# nothing\n"),
    ],
)
def test_a_table_without_rows_is_refused(tmp_path, ending, content):
    path = tmp_path / f"table{ending}"
    path.write_bytes(content)
    assert "empty" in refusal(path) or "no rows" in refusal(path)


@pytest.mark.parametrize("ending", [".npz", ".parquet"])
def test_an_array_or_frame_without_rows_is_refused(tmp_path, ending):
    path = write(tmp_path, ending, np.empty((0, 3)), np.empty(0))
    assert "no rows" in refusal(path)


DAMAGED = {
    "latin.csv": "a,b\n1,2\n3,é\n".encode("latin-1"),
    "null.csv": b"a,b\n1,\x00\n",
    "quote.csv": b'a,b\n1,"2\n3,4\n',
    "text.npz": b"hello",
    "zip.npz": b"PK\x03\x04 and no more",
    "nothing.npz": b"",
    "text.parquet": b"hello",
    "nothing.parquet": b"",
    "word.svmlight": b"1 1:x 2:3\n",
    "comma.svmlight": b"1,2,3\n",
    "unsorted.svmlight": b"1 3:1 2:1\n",
}


@in_one_test("name", DAMAGED)
def test_what_is_no_such_table_is_refused(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(DAMAGED[name])
    assert refusal(path).startswith(str(path))


@pytest.mark.parametrize("ending", [".npz", ".parquet"])
@pytest.mark.parametrize("part", [0.1, 0.3, 0.5, 0.9])
def test_flipped_bytes_are_refused_or_harmless(tmp_path, ending, part):
    path = write(tmp_path, ending)
    data = bytearray(path.read_bytes())
    start = int(part * len(data))
    for place in range(start, min(start + 40, len(data))):
        data[place] ^= 0xFF
    path.write_bytes(data)
    try:
        for piece in pieces(path):
            rows_of(piece, path)
    except CommandError as refused:
        assert str(path) in str(refused)


@pytest.mark.parametrize("ending", [".npz", ".parquet"])
def test_a_table_that_is_cut_short_is_refused(tmp_path, ending):
    path = write(tmp_path, ending)
    path.write_bytes(path.read_bytes()[:-30])
    assert refusal(path).startswith(str(path))


@in_one_test(
    ("arrays", "sentence"),
    [
        ({"Z": np.zeros((2, 2))}, "X"),
        ({"X": np.zeros(3)}, "matrix"),
        ({"X": np.array([["a"]])}, "matrix"),
        ({"X": np.zeros((2, 2), dtype=complex)}, "matrix"),
        ({"X": np.zeros((2, 2)), "y": np.zeros(3)}, "2 rows"),
        ({"X": np.zeros((2, 2)), "y": np.zeros((2, 1))}, "2 rows"),
        ({"X": np.array([[None]], dtype=object)}, "npz"),
    ],
)
def test_arrays_that_are_no_table_are_refused(tmp_path, arrays, sentence):
    path = tmp_path / "table.npz"
    np.savez(path, **arrays)
    assert sentence in refusal(path)


def test_one_array_is_no_table(tmp_path):
    path = tmp_path / "table.npz"
    with path.open("wb") as file:
        np.save(file, values())
    assert refusal(path).startswith(str(path))


def test_svmlight_rows_have_the_width_that_is_asked_for(tmp_path):
    path = tmp_path / "table.svmlight"
    path.write_text("1 1:2\n")
    (piece,) = pieces(path, n_features=4)
    np.testing.assert_array_equal(rows_of(piece), [[2.0, 0.0, 0.0, 0.0]])


def test_svmlight_rows_that_are_wider_are_refused(tmp_path):
    path = tmp_path / "table.svmlight"
    path.write_text("1 1:2 7:1\n")
    assert str(path) in refusal(path, n_features=4)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    assert "no such file" in refusal(tmp_path / "table.csv")


def test_a_folder_is_refused(tmp_path):
    (tmp_path / "table.csv").mkdir()
    assert "is a folder" in refusal(tmp_path / "table.csv")


def test_a_file_that_must_not_be_read_is_refused(tmp_path, monkeypatch):
    path = write(tmp_path, ".csv")
    monkeypatch.setattr("os.access", lambda *asked: False)  # root may read everything
    assert "permission" in refusal(path)


@in_one_test("name", ["table.xlsx", "table", "table.parquet.gz"])
def test_an_ending_that_no_table_has_is_refused_with_those_there_are(name):
    assert all(ending in refusal(name) for ending in (*NAMED, *UNNAMED))


@pytest.mark.parametrize(("ending", "library"), [(".csv", "pandas"), (".parquet", "pyarrow")])
def test_a_library_that_is_not_installed_is_named(tmp_path, monkeypatch, ending, library):
    path, real_import = write(tmp_path, ending), builtins.__import__

    def without(name, *args, **kwargs):
        if name.split(".")[0] == library:
            raise ImportError(name)
        return real_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(CommandError, match=rf"{library}.*pip install 'nearlinear\[cli\]'"):
        next(pieces(path))


def test_a_few_svmlight_rows_do_not_have_billions_of_features(tmp_path):
    path = tmp_path / "table.svmlight"
    path.write_text("1 1:0.5\n0 2000000000:1\n1 2:1\n0 3:1\n")
    with pytest.raises(CommandError, match="it names feature 2,000,000,000, more than"):
        whole(str(path), None)
