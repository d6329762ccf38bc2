"""The package in a process without Unix: see windows.py and portable_program.py."""

import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

from nearlinear import LDKLClassifier

TESTS = Path(__file__).parent


@pytest.mark.parametrize("part", ["main job", "estimators", "commands", "files"])
def test_the_package_runs_without_unix(part, tmp_path):
    command = [sys.executable, "-X", "warn_default_encoding", TESTS / "portable_program.py"]
    path = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
    settings = {"PYTHONPATH": path, "PYTHONUTF8": "0", "PYTHONIOENCODING": "cp1252"}
    ran = subprocess.run([*command, part, tmp_path], env=os.environ | settings, capture_output=True)
    assert ran.returncode == 0, ran.stderr.decode(errors="replace")
    if part == "commands":
        assert "\nΩ\n".encode() in ran.stdout  # a predicted label
        assert b"\r" not in ran.stdout


def test_a_spawned_process_predicts(moons):
    X, y = moons
    model = LDKLClassifier(2, max_iter=5, random_state=0).fit(X, y)
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        np.testing.assert_array_equal(pool.submit(model.predict, X).result(), model.predict(X))
