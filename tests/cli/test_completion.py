"""``nearlinear completion``: scripts that shells accept, and that know every command."""

import json
import shutil
import subprocess

import pytest

from nearlinear.cli import COMMANDS, main
from nearlinear.cli.completion import script

SHELLS = ["bash", "zsh", "fish"]
each_shell = pytest.mark.parametrize("shell", SHELLS)
OPTIONS = {
    "fit": {"--target", "--method", "--set", "--out", "--json", "--help"},
    "predict": {"--out", "--scores", "--rows", "--help"},
    "inspect": {"--json", "--help"},
    "warmup": {"--quiet", "--help"},
    "demo": {"--quick", "--out", "--help"},
}


@each_shell
def test_the_script_is_printed(shell, capsys):
    assert main(["completion", shell]) == 0
    captured = capsys.readouterr()
    assert captured.out == script(shell)
    assert captured.err == ""


@each_shell
def test_every_command_is_known(shell):
    for name in COMMANDS:
        assert name in script(shell)


@each_shell
def test_a_shell_accepts_its_script(shell, tmp_path):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    path = tmp_path / "completion"
    path.write_text(script(shell))
    shown = subprocess.run([shell, "-n", str(path)], capture_output=True, text=True, timeout=30)
    assert (shown.returncode, shown.stdout, shown.stderr) == (0, "", "")


def test_bash_accepts_the_script_for_zsh_as_well(tmp_path):
    """The two differ in how zsh is told to understand bash's completions."""
    path = tmp_path / "completion"
    path.write_text(script("zsh"))
    shown = subprocess.run(["bash", "-n", str(path)], capture_output=True, text=True, timeout=30)
    assert (shown.returncode, shown.stderr) == (0, "")


def completions(*words, folder):
    """What bash offers for the last of the words."""
    line = " ".join(map(repr, ("nearlinear", *words)))
    source = (
        f"{script('bash')}\n"
        f"COMP_WORDS=({line}); COMP_CWORD={len(words)}; _nearlinear\n"
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    shown = subprocess.run(
        ["bash", "-c", source], capture_output=True, text=True, cwd=folder, timeout=30
    )
    assert (shown.returncode, shown.stderr) == (0, "")
    return set(shown.stdout.split())


def test_bash_offers_commands(tmp_path):
    assert completions("", folder=tmp_path) == set(COMMANDS)
    assert completions("pre", folder=tmp_path) == {"predict"}


@pytest.mark.parametrize("command", OPTIONS)
def test_bash_offers_the_options_of_a_command(tmp_path, command):
    found = completions(command, "--", folder=tmp_path)
    assert found >= OPTIONS[command]
    assert completions(command, "model.nlm", "--h", folder=tmp_path) >= {"--help"}


def test_bash_offers_no_options_of_other_commands(tmp_path):
    assert "--target" not in completions("predict", "--", folder=tmp_path)


def test_bash_offers_files(tmp_path):
    (tmp_path / "model.nlm").touch()
    (tmp_path / "other.csv").touch()
    assert completions("predict", "", folder=tmp_path) == {"model.nlm", "other.csv"}
    assert completions("predict", "mod", folder=tmp_path) == {"model.nlm"}


@pytest.mark.parametrize(
    ("words", "values"),
    [
        (["fit", "--method", "ld"], {"ldkl", "ldmkl"}),
        (["fit", "train.csv", "--method", "LDK"], {"LDKLClassifier", "LDKLRegressor"}),
        (["fit", "--method", "=", "ldk"], {"ldkl"}),
        (["export", "model.nlm", "--to", ""], {"c", "js", "onnx", "sql"}),
        (["export", "--dtype", "i"], {"int8"}),
        (["completion", ""], {"bash", "zsh", "fish"}),
        (["methods", "llc"], {"llcsapl"}),
    ],
)
def test_bash_offers_values(tmp_path, words, values):
    (tmp_path / "idle.csv").touch()
    assert completions(*words, folder=tmp_path) == values


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_offer_values(shell):
    lines = [line for line in script(shell).splitlines() if "dtype" in line]
    assert any("float32 int8" in line for line in lines)


@each_shell
def test_a_script_is_installed_where_its_shell_looks(shell, tmp_path, capsys, monkeypatch):
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "BASH_COMPLETION_USER_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("nearlinear.cli.completion._ZSH_SHARED", tmp_path / "missing")
    assert main(["completion", shell, "--install"]) == 0
    place = {
        "bash": ".local/share/bash-completion/completions/nearlinear",
        "zsh": ".zfunc/_nearlinear",
        "fish": ".config/fish/completions/nearlinear.fish",
    }[shell]
    assert (tmp_path / place).read_text() == script(shell)
    assert str(tmp_path / place) in capsys.readouterr().out


def test_zsh_is_told_that_the_file_holds_a_completion():
    assert script("zsh").startswith("#compdef nearlinear\n")


def test_an_unknown_shell_is_refused(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["completion", "tcsh"])
    assert stop.value.code == 2
    assert "tcsh" in capsys.readouterr().err


def test_fish_lines_are_one_command_each():
    lines = script("fish").splitlines()
    assert all(line.startswith("complete -c nearlinear ") for line in lines)
    for command, options in OPTIONS.items():
        mine = [line for line in lines if f"__fish_seen_subcommand_from {command}'" in line]
        assert {f"--{line.split(' -l ')[1].split()[0]}" for line in mine} >= options
    assert json.dumps("\n".join(lines)).count("'") % 2 == 0  # every quote is closed
