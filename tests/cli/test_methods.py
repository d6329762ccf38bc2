"""``nearlinear methods``: a line on each, and the parameters of one."""

import json

import nearlinear
from nearlinear.cli import main


def test_every_method_has_one_line(capsys):
    assert main(["methods"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("ldkl ") and "(classes and values)" in line for line in lines)
    assert main(["methods", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    public = {n for n in nearlinear.__all__ if n.endswith(("Classifier", "Regressor"))}
    assert set(found) == public
    assert all(len(told["summary"]) > 20 for told in found.values())


def test_the_parameters_of_one_are_shown(capsys):
    assert main(["methods", "LLC-SAPL"]) == 0
    shown = capsys.readouterr().out
    assert "LLCSAPLClassifier: " in shown
    assert "n_anchors " in shown


def test_an_unknown_method_is_one_line_with_a_near_one(capsys):
    assert main(["methods", "lldkl"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "did you mean LDKLClassifier?" in line
