"""``nearlinear demo`` on a few rows."""

import pandas
import pytest
from cli.test_compare import quickly  # noqa: F401

import nearlinear
from nearlinear.cli import demo, main


def test_the_table_is_raw():
    frame = pandas.read_csv(demo.PENGUINS)
    assert len(frame) == 344
    assert frame["sex"].isna().sum() == 11
    assert frame.dtypes["species"] == "str"


@pytest.mark.usefixtures("quickly")
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_raw_table_becomes_a_front_a_model_file_and_exports(tmp_path, capsys):
    folder = tmp_path / "made"
    assert main(["demo", "--quick", "--out", str(folder)]) == 0
    told = capsys.readouterr().out
    assert told.count("the front of the search") == 2
    assert told.count("standard error, ours is ") == 2
    for name in ("penguins.nlm", "penguins.onnx", "penguins.c", "front.png"):
        assert (folder / name).stat().st_size > 0
    frame = pandas.read_csv(demo.PENGUINS).drop(columns="body_mass_g")
    assert 2000 < nearlinear.load(folder / "penguins.nlm").predict(frame)[3] < 7000
    assert main(["demo", "--quick", "--out", str(folder)]) == 2
    assert "penguins.nlm exists" in capsys.readouterr().err


def test_missing_matplotlib_costs_only_the_picture(tmp_path, monkeypatch):
    def missing(*anything):
        raise ImportError

    monkeypatch.setattr("nearlinear.cli.comparing.comparison.draw_cost_fronts", missing)
    told = demo.draw(tmp_path / "picture.png", {})
    assert "matplotlib is not installed" in told
    assert not list(tmp_path.iterdir())
