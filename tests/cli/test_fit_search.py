"""``nearlinear fit`` without a method: the search, on raw tables."""

import json
import re
import signal
import warnings

import numpy as np
import pandas
import pytest
from cli.fruit import METHOD, SMALL, settings, table
from cli.raw import LINEAR, raw_frame, raw_table
from grids import in_one_test

import nearlinear
from nearlinear.cli import main
from nearlinear.cli.fitting.search import _Race
from nearlinear.search.budgets import Clock
from nearlinear.search.trials import Trials


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A raw table, its model file, and what was said of it."""
    folder = tmp_path_factory.mktemp("raw")
    data, out = raw_table(folder), folder / "model.nlm"
    words = ["fit", str(data), "--target", "heavy", *LINEAR, "--out", str(out), "--json"]
    assert run_quietly(words) == 0
    return data, out


def run_quietly(words):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # names of rows are dropped with a word
        return main([str(word) for word in words])


def test_people_see_the_task_the_columns_the_front_and_how_to_go_on(tmp_path, capsys):
    out = tmp_path / "model.nlm"
    words = ["fit", raw_table(tmp_path), "--target", "heavy", *LINEAR, "--out", out]
    assert run_quietly(words) == 0
    captured = capsys.readouterr()
    lines = captured.out.splitlines()
    assert lines[0] == "heavy holds 2 different values: a classification"
    assert any(line.startswith("  tag: dropped: ") for line in lines)
    assert any(line.startswith("  code: one column for each of ") for line in lines)
    (chosen,) = [line for line in lines if line.startswith("→")]
    assert chosen.split()[1] == "linear"
    assert lines[-2].startswith(f"  nearlinear predict {out} NEW.csv")
    assert lines[-1] == "ONNX and C have no dates (day): give numbers to export"
    first = next(line for line in captured.err.splitlines() if "best" in line)
    assert re.match(
        r"\[1/\d+\] best on the first part: linear, held-out log loss 0\.\d+ \(0:0\d\)$", first
    )


def test_the_best_by_now_is_the_best_on_the_same_rows():
    race = _Race(nearlinear.NearLinearRegressor())
    told = [
        race.label(f"{name} (C 1)", {"fit": (1, 9), "held-out loss": loss})
        for name, loss in [
            ("line", 0.4), ("trees", 0.2), ("anchors", 0.3),  # one part judges everyone
            ("line", 0.9), ("trees", 0.5), ("anchors", 0.3),  # another one, which is harder
            ("line", 0.1),
        ]
    ]  # fmt: skip
    first = "best on the first part: {}, held-out squared error {}".format
    assert told[:3] == [first("line", 0.4), first("trees", 0.2), first("trees", 0.2)]
    assert set(told[3:6]) == {first("trees", 0.2)}
    assert told[6] == "best on 2 parts: anchors, held-out squared error 0.3"


def test_a_time_limit_is_that_of_the_whole_command(tmp_path, monkeypatch):
    limits, began = [], Clock.__init__

    def noting(self, limit=None):
        limits.append(limit)
        began(self, limit)

    monkeypatch.setattr(Clock, "__init__", noting)
    out = tmp_path / "model.nlm"
    words = ["fit", raw_table(tmp_path), "--target", "heavy", *LINEAR, "--out", out, "--json"]
    assert run_quietly([*words, "--hold-out", "0.3", "--time-limit", "100s"]) == 0
    first, second = limits
    assert 40 < first <= 50
    assert 50 < second < 100  # what the first search, which was quick, has left
    assert nearlinear.load(out).time_limit == 100


def test_both_searches_of_held_out_rows_show_how_far_they_are(tmp_path, capsys):
    words = ["fit", raw_table(tmp_path), "--target", "heavy", *LINEAR, "--out", tmp_path / "m.nlm"]
    assert run_quietly([*words, "--hold-out", "0.3"]) == 0
    told = capsys.readouterr().err
    first, second = "first search, for the held-out score: ", "second search, on all rows: "
    assert 0 < told.index(first) < told.index(second)
    assert f"{first}best on the first part" in told
    assert run_quietly([*words, "--force"]) == 0
    assert "first search" not in capsys.readouterr().err


@pytest.mark.parametrize("words", [LINEAR, [*METHOD, *settings(**SMALL)]])
def test_a_slip_in_a_column_of_numbers_is_told_once_by_the_row_of_the_file(tmp_path, capsys, words):
    ages = [*(str(20 + k % 30) for k in range(89)), "fiftynine"]
    data = raw_table(tmp_path, age=ages)
    words = ["fit", data, "--target", "heavy", *words, "--hold-out", "0.3", "--json"]
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        assert main([*map(str, words), "--out", str(tmp_path / "model.nlm")]) == 0
    (line,) = [one for one in capsys.readouterr().err.splitlines() if "are numbers" in one]
    assert line.startswith(
        f"nearlinear fit: note: {data}, column 'age': 89 of 90 cells are numbers"
    )
    assert "row 90 has 'fiftynine'; cells that are none count as missing" in line
    scores = tmp_path / "scores.csv"
    assert run_quietly(["predict", tmp_path / "model.nlm", data, "--out", scores]) == 0
    assert len(scores.read_text().splitlines()) == 91


def test_programs_get_one_object(tmp_path, capsys):
    out = tmp_path / "model.nlm"
    words = [
        "fit",
        raw_table(tmp_path),
        "--target",
        "width",
        "--drop",
        "tag",
        *LINEAR,
        "--out",
        out,
    ]
    raw_frame().dropna(subset="width").to_csv(tmp_path / "raw.csv", index=False)
    assert run_quietly([*words, "--json", "--hold-out", "0.3"]) == 0
    captured = capsys.readouterr()
    found = json.loads(captured.out)
    assert captured.err == ""
    assert (found["method"], found["task"]) == ("NearLinearRegressor", "regression")
    assert found["held_out"]["rows"] == round(0.3 * found["rows"] + 0.4)
    assert [one["is_chosen"] for one in found["front"]].count(True) == 1
    assert [one["name"] for one in found["columns"]] == ["code", "day", "heavy"]
    model = nearlinear.load(out)
    chosen = next(one for one in found["front"] if one["is_chosen"])
    assert model.validation_score_ == pytest.approx(chosen["score"])


@pytest.mark.filterwarnings("ignore:Columns of X that were not seen")
def test_answers_are_those_of_the_library_whatever_the_pieces(fitted, tmp_path):
    data, model_file = fitted
    assert main(["predict", str(model_file), str(data), "--rows", "4", "--proba", "--out",
                 str(tmp_path / "a.csv")]) == 0  # fmt: skip
    found = pandas.read_csv(tmp_path / "a.csv")
    model = nearlinear.NearLinearClassifier(families=["linear"], random_state=0)
    frame = pandas.read_csv(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(frame.drop(columns="heavy"), frame["heavy"])
    expected = model.predict_proba(frame.drop(columns="heavy"))
    np.testing.assert_allclose(found[["probability_no", "probability_yes"]], expected, rtol=1e-5)
    assert found["prediction"].tolist() == model.predict(frame.drop(columns="heavy")).tolist()


def test_strangers_and_gaps_are_answered_and_unused_columns_may_be_missing(
    fitted, tmp_path, capsys
):
    new = tmp_path / "new.csv"
    new.write_text("day,code,width\n2030-02-03,Z9,\n,,7\n")
    assert main(["predict", str(fitted[1]), str(new)]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3


@in_one_test(
    ("text", "sentence"),
    [
        ("day,cod,width\n2030-02-03,A1,1\n", "yet now missing: 'code'"),
        ("day,code,width\n2030-02-03,A1,1\n2030-02-03,A1,wide\n", "row 2, column 'width': 'wide'"),
        ("day,code,width\n2030-02-03,A1,1\nsoon,A1,1\n", "row 2: it has 'soon' in column 'day'"),
    ],
)
def test_rows_that_are_not_those_of_the_fit_are_one_sentence(
    fitted, tmp_path, refused_command, text, sentence
):
    (tmp_path / "new.csv").write_text(text)
    assert sentence in refused_command("predict", fitted[1], tmp_path / "new.csv")


def test_what_is_no_number_is_told_and_what_no_export_takes_is_refused(
    fitted, tmp_path, capsys, refused_command
):
    assert main(["inspect", str(fitted[1])]) == 0
    lines = dict(line.split("  ", 1) for line in capsys.readouterr().out.splitlines())
    told = {name: value.strip() for name, value in lines.items()}
    assert (told["texts"], told["dates"], told["unused"]) == ("code", "day", "tag")
    for ending in ("onnx", "c"):
        line = refused_command("export", fitted[1], tmp_path / f"model.{ending}")
        assert "Column 'day' holds dates" in line


def test_a_raw_table_is_scored(fitted, capsys):
    data, model_file = fitted
    assert main(["score", str(model_file), str(data), "--target", "heavy", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["accuracy"] > 0.8


def interrupted_after(monkeypatch, n_fits):
    """Ctrl-C in the middle of a search."""
    tried = Trials._try

    def trying(self, *arguments):
        if self.n_done > n_fits:
            signal.raise_signal(signal.SIGINT)
        tried(self, *arguments)

    monkeypatch.setattr(Trials, "_try", trying)


def test_ctrl_c_keeps_the_best_so_far(tmp_path, capsys, monkeypatch):
    interrupted_after(monkeypatch, 4)
    out = tmp_path / "model.nlm"
    words = ["fit", raw_table(tmp_path), "--target", "heavy", *LINEAR, "--out", out]
    assert run_quietly(words) == 130
    captured = capsys.readouterr()
    sentence = f"nearlinear fit: interrupted; the best model so far was written to {out}"
    assert captured.err.splitlines()[-1] == sentence
    assert "→ linear" in captured.out
    assert nearlinear.load(out).predict(raw_frame().drop(columns="heavy"))[0] in ("yes", "no")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_before_there_is_a_model_leaves_no_file(tmp_path, capsys, monkeypatch):
    interrupted_after(monkeypatch, 0)
    words = ["fit", raw_table(tmp_path), "--target", "heavy", *LINEAR]
    assert run_quietly([*words, "--out", tmp_path / "model.nlm"]) == 130
    assert capsys.readouterr().err.splitlines()[-1] == "nearlinear fit: interrupted"
    assert {path.name for path in tmp_path.iterdir()} == {"raw.csv"}


@in_one_test(
    ("words", "sentence"),
    [
        (["--max-bytes", "10"], "No model costs at most 10 bytes"),
        (["--task", "regression"], "column 'kind': it holds no numbers"),
        (
            ["--scoring", "rocauc"],
            "--scoring rocauc: did you mean roc_auc? there are accuracy",
        ),
        (
            ["--families", "anchor"],
            "--families anchor: did you mean anchors? there are linear, piecewise-linear, anchors",
        ),
        ([*METHOD, "--max-bytes", "1kB"], "--max-bytes: is for the search; leave --method out"),
        (["--no-scaling"], "--no-scaling: is for --method"),
        (["--set", "n_anchors=3"], "--set n_anchors: NearLinearClassifier has the parameters"),
    ],
)
def test_what_cannot_be_asked_for_is_one_sentence(tmp_path, refused_fit, words, sentence):
    families = [] if "--families" in words or "--method" in words else LINEAR
    assert sentence in refused_fit(table(tmp_path), "--target", "kind", *families, *words)


@in_one_test(
    "words", [["--max-bytes", "64 buckets"], ["--time-limit", "-3"], ["--max-us-per-row", "0"]]
)
def test_amounts_that_are_none_are_one_sentence(tmp_path, capsys, words):
    with pytest.raises(SystemExit) as stop:
        main(["fit", "x.csv", "--target", "kind", *words])
    assert stop.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert repr(words[1]) in line


def test_one_method_takes_raw_tables_behind_an_encoder(tmp_path, fit):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = fit(raw_table(tmp_path), "--target", "heavy")
    assert [type(step).__name__ for _, step in model.steps] == ["TableEncoder", "LLCSAPLClassifier"]
    frame = raw_frame()
    assert model.score(frame.drop(columns="heavy"), frame["heavy"]) > 0.8
    words = ["fit", str(raw_table(tmp_path)), "--target", "heavy", *METHOD, *settings(**SMALL)]
    assert run_quietly([*words, "--out", tmp_path / "again.nlm", "--hold-out", "0"]) == 0
