"""``fit --report`` and ``compare --report``: a page beside the model, judged on held-out rows."""

import json
import re

import pytest
from cli.raw import LINEAR, raw_table

import nearlinear
from nearlinear.cli import main
from nearlinear.cli.comparing import comparison as comparing
from nearlinear.cli.comparing.contenders import contenders

pytestmark = pytest.mark.filterwarnings("ignore:TableEncoder drops:UserWarning")


def document_of(path):
    return json.loads(re.search(r'id="contents">(.*?)</script>', path.read_text("utf-8"), re.S)[1])


@pytest.mark.parametrize("way", [LINEAR, ["--method", "llsvm", "--set", "n_anchors=3"]])
def test_fit_writes_a_page_of_the_rows_it_held_out(tmp_path, capsys, way):
    data, out, page = raw_table(tmp_path), tmp_path / "m.nlm", tmp_path / "m.html"
    words = ["fit", str(data), "--target", "heavy", *way, "--out", str(out), "--json"]
    assert main([*words, "--report", str(page)]) == 0
    found, document = json.loads(capsys.readouterr().out), document_of(page)
    assert found["report"] == str(page)
    assert document["measures"]["rows"] == 18  # a fifth of 90
    assert document["measures"]["accuracy"] == pytest.approx(found["held_out_accuracy"])
    assert document["target"] == "heavy"
    assert not document["is_own_judge"]
    assert str(out) in document["lines"][0]["text"]
    # the panel runs the model of the file, which has seen all rows
    import pandas

    row = pandas.DataFrame(
        [document["what_if"]["rows"][0]["row"]], columns=document["what_if"]["names"]
    )
    scores = nearlinear.load(out).decision_function(row)
    assert document["what_if"]["rows"][0]["scores"] == pytest.approx(scores.ravel().tolist())


def test_compare_sets_the_others_beside(tmp_path, capsys, monkeypatch):
    two = [one for one in contenders(False, 60, 0) if one.name in ("linear", "decision tree")]
    monkeypatch.setattr(comparing, "contenders", lambda *shape: two)
    page = tmp_path / "r.html"
    words = ["compare", str(raw_table(tmp_path)), "--target", "heavy", *LINEAR, "--json"]
    assert main([*words, "--report", str(page)]) == 0
    found, document = json.loads(capsys.readouterr().out), document_of(page)
    ours = next(one for one in found["models"] if one["ours"])
    assert document["measures"]["accuracy"] == pytest.approx(ours["score"])
    peers = [one["model"] for one in document["front"]["peers"] if not one["ours"]]
    assert peers == ["linear", "decision tree"]


def test_a_report_that_cannot_be_is_refused_before_any_work(refused_command, tmp_path):
    data = raw_table(tmp_path)
    words = [data, "--target", "heavy", "--out", tmp_path / "m.nlm"]
    line = refused_command("fit", *words, "--report", tmp_path / "r.txt")
    assert "ends in .html" in line
    line = refused_command("fit", *words, "--report", tmp_path / "r.html", "--hold-out", "0")
    assert "needs rows that judge" in line
    line = refused_command("fit", *words, "--report", tmp_path / "no" / "r.html")
    assert "does not exist" in line


def test_a_disk_that_is_full_is_told_and_the_model_is_there(tmp_path, capsys, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device", "/somewhere/.part")

    monkeypatch.setattr("nearlinear.report.page.write_report", full)
    out, page = tmp_path / "m.nlm", tmp_path / "r.html"
    words = [raw_table(tmp_path), "--target", "heavy", *LINEAR, "--out", out, "--report", page]
    assert main(["fit", *map(str, words)]) == 2
    line = capsys.readouterr().err.splitlines()[-1]
    assert line.endswith(
        f"{page}: cannot be written (No space left on device); the model is in {out}"
    )
    nearlinear.load(out)
