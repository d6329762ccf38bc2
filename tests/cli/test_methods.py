"""``nearlinear methods``: a line on each, and the parameters of one."""

import json
import re

import nearlinear
from nearlinear.cli import main
from nearlinear.cli._errors import CommandError
from nearlinear.cli._methods import find_methods, method_names, short_names


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


def one_error(name):
    """Spellings of a name with one typing error: letters swapped, left out, doubled or replaced."""
    for i in range(len(name)):
        yield name[:i] + name[i + 1 :]
        yield name[: i + 1] + name[i:]
        yield name[:i] + "x" + name[i + 1 :]
        yield name[:i] + name[i : i + 2][::-1] + name[i + 2 :]


def suggestions(name):
    """Names that the error for an unknown method suggests."""
    try:
        find_methods(name)
    except CommandError as error:
        question = re.search(r"did you mean (.*)\?", str(error))
        return question.group(1).split(" or ") if question else []
    return None  # the name of another method


def test_a_method_with_swapped_letters_is_suggested_first():
    names = {name: groups[0] for name, groups in short_names().items()}
    names |= {name.lower(): name for name in method_names()}
    wrong = {}
    for name, method in names.items():
        for i in range(len(name) - 1):
            swapped = name[:i] + name[i + 1] + name[i] + name[i + 2 :]
            suggested = suggestions(swapped)
            if suggested is not None and suggested[:1] != [method]:
                wrong[swapped] = suggested
    assert wrong == {}


def test_a_method_with_one_typing_error_is_suggested():
    names = {name: groups[0] for name, groups in short_names().items()}
    wrong = {}
    for name, method in names.items():
        for misspelled in one_error(name):
            suggested = suggestions(misspelled)
            if suggested is not None and method not in suggested:
                wrong[misspelled] = suggested
    assert wrong == {}


def test_an_unknown_method_is_one_line_with_a_near_one(capsys):
    assert main(["methods", "lldkl"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "did you mean LDKLClassifier?" in line
