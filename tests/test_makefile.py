"""Recipes of the Makefile work in any folder and delete only what the Makefile created."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TARGETS = [
    "test",
    "test-quick",
    "test-all",
    "test-gpu",
    "docs-quick",
    "clean",
    "distclean",
]
# Names of programs that the recipes call are replaced by `true`, which ignores its arguments.
NO_PROGRAMS = ["RUN=true", "PIP=true", "PYTHON=true"]

pytestmark = [
    pytest.mark.skipif(shutil.which("make") is None, reason="needs make"),
    pytest.mark.skipif(not (ROOT / "Makefile").exists(), reason="needs the repository"),
]


def contents(folder, leave_out):
    return {
        path.relative_to(folder): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and leave_out not in path.parents
    }


@pytest.fixture
def checkout(tmp_path):
    """A copy of the Makefile below a folder with a space, beside files of somebody else."""
    folder = tmp_path / "my projects" / "nearlinear"
    for name in ("src/nearlinear", "tests", "docs/gallery", ".venv"):
        (folder / name).mkdir(parents=True)
    shutil.copy(ROOT / "Makefile", folder)
    shutil.copy(ROOT / "pyproject.toml", folder)
    (folder / "src" / "nearlinear" / "_version.py").touch()
    for stamp in (".made", ".package", ".test", ".torch", ".docs", ".lint"):
        (folder / ".venv" / stamp).touch()
    # An unquoted path is split into "…/my" and "projects/nearlinear/…".
    for other in (tmp_path / "my", tmp_path / "projects", folder / "projects" / "nearlinear"):
        (other / "folder").mkdir(parents=True)
        (other / "folder" / "sentinel.txt").write_text("precious", encoding="utf-8")
    return folder


def make(folder, *words):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MAKE")}
    return subprocess.run(
        ["make", *words], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("target", TARGETS)
def test_a_recipe_changes_nothing_outside_a_checkout_whose_path_has_a_space(checkout, target):
    outside, foreign = checkout.parents[1], checkout / "projects"
    before = contents(outside, checkout), contents(foreign, None)
    done = make(checkout, target, *NO_PROGRAMS)
    assert done.returncode == 0, done.stderr
    assert (contents(outside, checkout), contents(foreign, None)) == before


def test_compiled_code_of_older_sources_is_deleted(checkout):
    old = checkout / ".venv" / ".compiled" / "123-4"
    old.mkdir(parents=True)
    assert make(checkout, "test", *NO_PROGRAMS).returncode == 0
    assert not old.exists()
    assert len(list(old.parent.iterdir())) == 1


def test_distclean_deletes_only_an_environment_that_the_makefile_created(checkout):
    done = make(checkout, "distclean", *NO_PROGRAMS)
    assert (checkout / ".venv").exists()
    assert ".venv was not created by this Makefile" in done.stdout
    (checkout / ".venv" / ".created").touch()
    make(checkout, "distclean", *NO_PROGRAMS)
    assert not (checkout / ".venv").exists()


def test_make_in_another_folder_is_an_error(checkout, tmp_path):
    done = make(tmp_path, "-f", str(checkout / "Makefile"), "clean")
    assert done.returncode != 0
    assert "Run make in the folder of the Makefile" in done.stderr


def test_an_environment_whose_path_has_a_space_is_an_error(checkout):
    done = make(checkout, "distclean", "VENV=my env")
    assert done.returncode != 0
    assert "VENV must not contain spaces" in done.stderr
