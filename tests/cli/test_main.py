"""The command line before any command runs."""

import subprocess
import sys

import pytest

import nearlinear.cli
from nearlinear.cli import COMMANDS, main
from nearlinear.cli._errors import CommandError


def test_help_lists_every_command(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["--help"])
    assert stop.value.code == 0
    shown = capsys.readouterr().out
    for name in COMMANDS:
        assert name in shown


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_its_options(name, capsys):
    with pytest.raises(SystemExit) as stop:
        main([name, "--help"])
    assert stop.value.code == 0
    assert f"nearlinear {name}" in capsys.readouterr().out


@pytest.mark.parametrize("flag", ["--out", "--output", "-o"])
@pytest.mark.parametrize("words", [["fit", "a.csv", "--target", "b"], ["predict", "m", "a.csv"]])
def test_an_output_is_named_as_in_other_programs(words, flag):
    assert nearlinear.cli._parsed([*words, flag, "here"]).out == "here"


def test_no_command_is_an_error(capsys):
    with pytest.raises(SystemExit) as stop:
        main([])
    assert stop.value.code == 2
    assert "COMMAND" in capsys.readouterr().err


def test_module_and_script_are_the_same_command():
    shown = subprocess.run(
        [sys.executable, "-m", "nearlinear", "--version"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout.strip() == f"nearlinear {nearlinear.__version__}"


@pytest.mark.parametrize(
    ("raised", "code", "sentence"),
    [
        (CommandError("x.csv: no column 'y'"), 2, "nearlinear demo: x.csv: no column 'y'"),
        (KeyboardInterrupt(), 130, "nearlinear demo: interrupted"),
    ],
)
def test_failure_is_one_line(raised, code, sentence, monkeypatch, capsys):
    class Failing:
        @staticmethod
        def add_arguments(parser):
            pass

        @staticmethod
        def run(arguments):
            raise raised

    monkeypatch.setattr(nearlinear.cli, "_module", lambda name: Failing)
    assert main(["demo"]) == code
    assert capsys.readouterr().err.splitlines() == [sentence]


@pytest.mark.parametrize(
    "words", [["predict", "m.nlm", "x.csv", "--rows", "abc"], ["fit", "x.csv", "--color"], ["fot"]]
)
def test_a_wrong_command_line_is_one_line(words, capsys):
    with pytest.raises(SystemExit) as stop:
        main(words)
    assert stop.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("--help")
