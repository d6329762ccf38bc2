"""Names and labels of somebody else's file neither steer a terminal nor stop a command."""

import numpy as np
import pytest
from runtime import crafted

from nearlinear.cli import main
from nearlinear.cli.shown.foreign_text import shown

LABELS = ["red \x1b[31m", "half \ud800", "turned \u202e"]


@pytest.fixture
def model(tmp_path):
    """A file with labels of every unsafe sort."""
    path = tmp_path / "model.nlm"
    labels = crafted.put_top("classes", {"$": "strings", "items": LABELS})
    path.write_bytes(crafted.file_of("two kernels", labels))
    return str(path)


@pytest.mark.parametrize("text", ["plain", "größer ≥ 日本", "non\xa0breaking", ""])
def test_safe_text_stays(text):
    assert shown(text) == text


def test_inspect_shows_labels_by_their_escapes(model, capsys):
    assert main(["inspect", model]) == 0
    printed = capsys.readouterr().out
    assert r"red \x1b[31m, half \ud800, turned \u202e" in printed
    assert "\x1b" not in printed


def test_predict_writes_labels_by_their_escapes(model, tmp_path, capsys):
    np.savez(tmp_path / "new.npz", X=np.random.default_rng(0).standard_normal((40, 3)))
    assert main(["predict", model, str(tmp_path / "new.npz"), "--scores"]) == 0
    printed = capsys.readouterr().out
    assert r"score_half \ud800" in printed
    assert "\x1b" not in printed


def test_labels_that_end_in_a_zero_do_not_merge(tmp_path):
    from nearlinear import runtime

    path = tmp_path / "model.nlm"
    labels = {"$": "objects", "items": ["a", "a\0", "a\0\0"]}
    path.write_bytes(crafted.file_of("two kernels", crafted.put_top("classes", labels)))
    X = np.random.default_rng(0).standard_normal((200, 3))
    assert set(runtime.load(path).predict(X).tolist()) == {"a", "a\0"}
    path.write_bytes(
        crafted.file_of("two kernels", crafted.put_top("classes", labels | {"$": "strings"}))
    )
    with pytest.raises(runtime.ModelFileError, match="end in a zero"):
        runtime.load(path)
