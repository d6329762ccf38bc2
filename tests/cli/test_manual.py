"""The commands that the manual shows run as they stand, in the order in which they are shown."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from cli.fruit import frame_of, rows

from nearlinear.cli import main
from nearlinear.cli.comparing import comparison
from nearlinear.cli.comparing.contenders import contenders

MANUAL = Path(__file__).parents[2] / "docs" / "command-line.md"


def write_tables(folder):
    X, kinds = rows(n_rows=90)
    ids, prices = [f"{k:03d}" for k in range(len(X))], (X @ [1.0, -2.0, 0.5]).round(2)
    frame = frame_of(X, kinds).assign(id=ids, price=prices)
    frame.to_csv(folder / "fruit.csv", index=False)
    names = ["breite", "höhe", "gewicht"]
    german = frame_of(X.round(2), kinds, names).rename(columns={"kind": "art"})
    german.to_csv(folder / "obst.csv.gz", index=False, sep=";", decimal=",", encoding="latin-1")


@pytest.mark.filterwarnings("ignore:TableEncoder drops:UserWarning")
@pytest.mark.filterwarnings("ignore:Columns of X that were not seen:UserWarning")
def test_the_manual_is_true(tmp_path, monkeypatch):
    write_tables(tmp_path)
    some = [one for one in contenders(False, 90, 0) if one.name in ("linear", "XGBoost")]
    monkeypatch.setattr(comparison, "contenders", lambda *shape: some)
    monkeypatch.chdir(tmp_path)
    commands = re.findall(r"^\$ (.*)$", MANUAL.read_text(encoding="utf-8"), re.M)
    assert len(commands) > 10
    for command in commands:
        if re.search("[|<>]", command):
            in_a_shell(command)
        else:  # without a new process
            name, *words = shlex.split(command)
            assert name == "nearlinear"
            assert main(words) == 0, command
    ids = [line.split(",")[0] for line in (tmp_path / "answers.csv").read_text().splitlines()]
    assert ids[:3] == ["id", "000", "001"]
    assert np.unique((tmp_path / "answers2.csv").read_text().splitlines()).size == 4


def in_a_shell(command):
    # defined as a function: commands stand in the manual as a user types them
    lines = [
        "set -e",
        f'nearlinear() {{ {shlex.quote(sys.executable)} -m nearlinear "$@"; }}',
        command,
    ]
    shown = subprocess.run(
        ["bash", "-c", "\n".join(lines)], capture_output=True, text=True, timeout=300
    )
    assert shown.returncode == 0, shown.stderr
