"""The page: whole, closed, and with nothing of the data that could run."""

import base64
import gzip
import json
import re

import pytest
from report.conftest import HOSTILE

import nearlinear
from nearlinear.report import page as pages
from nearlinear.report.subject import subject_of


@pytest.fixture(scope="module")
def text(classes, tmp_path_factory):
    model, X, y = classes
    path = tmp_path_factory.mktemp("report") / "report.html"
    model.report(X, y, path, title=HOSTILE, target=HOSTILE)
    return path.read_text("utf-8")


def block(text, name):
    return re.search(rf'<script type="[^"]+" id="{name}">(.*?)</script>', text, re.S)[1]


def test_what_comes_from_data_is_text(text):
    assert "<img" not in text
    assert len(re.findall("<script", text)) == len(re.findall("</script", text)) == 4
    document = json.loads(block(text, "contents"))
    assert document["title"] == document["target"] == HOSTILE
    assert HOSTILE in document["classes"]
    assert HOSTILE in [one["name"] for one in document["columns"]["columns"]]
    assert "innerHTML" not in text


def test_the_page_asks_nothing_from_outside(text):
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text)[1]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    links = set(re.findall(r"https?://[^\s\"'`<)]+", text.replace(block(text, "contents"), "")))
    assert links <= {"http://www.w3.org/2000/svg"}


def test_all_scripts_are_in_the_page():
    assert {path.stem for path in pages._FOLDER.glob("*.js")} == set(pages._SCRIPTS)


def test_the_model_is_in_the_page(text, classes, tmp_path):
    path = tmp_path / "model.nlm"
    path.write_bytes(gzip.decompress(base64.b64decode(block(text, "model"))))
    model, X, _ = classes
    assert (nearlinear.load(path).predict(X) == model.predict(X)).all()


def test_a_model_that_is_too_large_stays_outside(classes, monkeypatch):
    subject = subject_of(*classes)
    monkeypatch.setattr(pages, "_MOST_OF_MODEL", 100)
    text = pages.page(subject)
    assert block(text, "model") == ""
    assert "too much for a page" in json.loads(block(text, "contents"))["what_if_reason"]


def test_a_page_is_written_whole_or_not_at_all(classes, tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("before")
    monkeypatch.setattr(pages, "LARGEST", 1000)
    with pytest.raises(ValueError, match=r"would be .* MB"):
        classes[0].report(*classes[1:], path)
    assert path.read_text() == "before"
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]
