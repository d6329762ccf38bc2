"""``nearlinear demo`` on a cut-down set of rows."""

import builtins
import re
from contextlib import redirect_stdout
from io import StringIO

import pytest

from nearlinear.cli import _measure, demo, main
from nearlinear.cli._contenders import contenders
from nearlinear.cli._measure import Measurement

NAMES = [contender.name for contender in contenders(seed=0)]


@pytest.fixture(scope="session")
def quick_run(tmp_path_factory):
    """Text and picture of one quick run, with every data set."""
    picture = tmp_path_factory.mktemp("demo") / "picture.png"
    with redirect_stdout(StringIO()) as out, pytest.MonkeyPatch.context() as patch:
        patch.setattr(_measure, "_WARM_UP_ROWS", 50)
        patch.setattr(_measure._best_seconds, "__defaults__", (1, 0.0))
        code = main(["demo", "--quick", "--out", str(picture)])
    assert code == 0
    return out.getvalue(), picture


def rows_of(text):
    """{model: (accuracy, µs per row, multiple of linear)} for each table, in order."""
    number = r"([\d.]+)"
    tables = []
    for line in text.splitlines():
        if line.startswith("model "):
            tables.append({})
        found = re.match(rf"(\S.*?)\s+{number} %\s+{number}\s+{number}\s", line)
        if found:
            tables[-1][found[1]] = tuple(float(value) for value in found.groups()[1:])
    return tables


def test_every_model_has_a_row_in_every_table(quick_run):
    text, _ = quick_run
    tables = rows_of(text)
    assert len(tables) == len(demo.DATA_SETS)
    for table in tables:
        assert list(table) == NAMES


def test_every_model_has_learned_something(quick_run):
    text, _ = quick_run
    for table in rows_of(text):
        for name, (accuracy, us_per_row, _) in table.items():
            assert accuracy > 75, name  # chance is 10 % and 63 %
            assert us_per_row > 0, name


def test_linear_is_one_times_linear(quick_run):
    text, _ = quick_run
    for table in rows_of(text):
        assert table["LinearSVC"][2] == 1.0


def test_picture_is_written_whole(quick_run):
    _, picture = quick_run
    assert picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert [file.name for file in picture.parent.iterdir()] == [picture.name]


def test_table_puts_ours_above_the_line():
    rows = [
        Measurement("Ours", True, 0.98765, 0.5, 2_500_000, 1.234),
        Measurement("LinearSVC", False, 0.9, 0.25, 5_200, 0.1),
    ]
    header, rule, ours, second_rule, linear = demo.format_table(rows).splitlines()
    assert header.split() == ["model", "accuracy", "µs/row", "×", "linear", "bytes", "fit"]
    assert rule == second_rule
    assert ours.split() == ["Ours", "98.77", "%", "0.5", "2.0", "2.5", "MB", "1.23", "s"]
    assert linear.split() == ["LinearSVC", "90.00", "%", "0.25", "1.0", "5.2", "kB", "0.10", "s"]


@pytest.mark.parametrize(
    ("out", "sentence"),
    [
        ("missing/picture.png", "does not exist"),
        ("picture.docx", "ends in .png"),
    ],
)
def test_unusable_picture_name_is_refused_before_any_work(out, sentence, tmp_path, capsys):
    assert main(["demo", "--quick", "--out", str(tmp_path / out)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1
    assert sentence in captured.err


def test_missing_matplotlib_costs_only_the_picture(tmp_path, monkeypatch, capsys):
    real_import = builtins.__import__

    def without_matplotlib(name, *args, **kwargs):
        if name.split(".")[0] == "matplotlib":
            raise ImportError(name)
        return real_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_matplotlib)
    monkeypatch.setattr(demo, "_measure_all", lambda splits: {})
    out = tmp_path / "picture.png"
    assert main(["demo", "--quick", "--out", str(out)]) == 0
    assert "matplotlib is not installed" in capsys.readouterr().out
    assert not out.exists()
