"""Combinations of ``make test-versions``: they cover what pyproject.toml and the docs promise."""

import re
import tomllib
from itertools import chain
from pathlib import Path

import pytest
from versions.__main__ import exit_status, find_python
from versions.combinations import ADDITIONAL, COMBINATIONS

import nearlinear
from nearlinear import displays, gates, kernels, streams

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
NAMED = {combination.name: combination for combination in COMBINATIONS}


@pytest.fixture(scope="module")
def pyproject():
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def lower_bounds(requirements):
    """Lower bounds by library; requirements of groups and extras within are left out."""
    pattern = re.compile(r"([\w-]+)(?:\[.*\])?>=([\d.]+)")
    matches = [pattern.match(one) for one in requirements if isinstance(one, str)]
    return {match[1]: match[2] for match in matches if match}


def test_the_oldest_combination_has_the_lower_bounds(pyproject):
    project = pyproject["project"]
    oldest = NAMED["oldest"]
    assert oldest.others == "oldest"
    assert f">={oldest.python}" == project["requires-python"]
    assert oldest.numpy == lower_bounds(project["dependencies"])["numpy"] + ".0"


def test_every_supported_python_has_a_combination(pyproject):
    listed = re.findall(r"Python :: (3\.\d+)", " ".join(pyproject["project"]["classifiers"]))
    assert {combination.python for combination in COMBINATIONS} == set(listed)


def test_every_minor_version_of_numpy_has_an_oldest_and_a_newest_combination():
    by_numpy = {}
    for combination in COMBINATIONS:
        if combination.numpy != "*":
            minor = combination.numpy.rsplit(".", 1)[0]
            by_numpy.setdefault(minor, set()).add(combination.others)
    *earlier, last = sorted(by_numpy)
    assert all(by_numpy[minor] == {"oldest", "newest"} for minor in earlier)
    assert "oldest" in by_numpy[last]
    assert NAMED["newest"] == ("newest", "3.13", "*", "newest")


def test_additional_libraries_have_the_bounds_of_the_tests(pyproject):
    groups = pyproject["dependency-groups"]
    tested = lower_bounds(groups["test"]) | lower_bounds(groups["demo"])
    additional = lower_bounds(ADDITIONAL)
    assert additional.pop("pandas") == "2.3"  # tables in Python; the command line needs pandas 3
    assert additional.items() <= tested.items()


def test_the_documentation_states_the_lower_bounds(pyproject):
    page = (ROOT / "docs" / "versions.md").read_text("utf-8")
    rows = re.findall(r"^\| ([\w, -]+) \| ([\d.]+) \|", page, re.M)
    stated = {name.lower(): bound for names, bound in rows for name in names.split(", ")}
    project = pyproject["project"]
    extras = chain(*project["optional-dependencies"].values())
    assert stated == lower_bounds([*project["dependencies"], *extras])


def test_the_program_uses_every_public_name():
    program = (HERE / "program.py").read_text("utf-8")
    program += (HERE.parent / "small_estimators.py").read_text("utf-8")
    modules = (nearlinear, kernels, gates, streams)
    public = {name for module in modules for name in module.__all__}
    public |= {name for name in vars(displays) if name.endswith("Display")}
    assert {name for name in public if not re.search(rf"\b{name}\b", program)} == set()


def test_an_interpreter_that_does_not_exist_is_not_found():
    assert find_python("3.99") is None


@pytest.mark.parametrize(
    ("results", "status"),
    [
        ({"oldest": "passed", "numpy-2.4": "passed", "newest": "not run: no Python"}, 0),
        ({"oldest": "not run", "numpy-2.4": "passed", "newest": "not run"}, 1),
        ({"oldest": "passed", "newest": "FAILED"}, 1),
        ({"numpy-2.4": "passed"}, 0),
        ({"numpy-2.4": "not run"}, 1),
    ],
)
def test_a_failure_or_nothing_run_gives_a_nonzero_status(results, status, capsys):
    assert exit_status(results) == status
    assert "oldest" not in results or f"oldest: {results['oldest']}" in capsys.readouterr().out
