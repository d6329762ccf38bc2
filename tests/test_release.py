"""Versions and lower bounds that are named in several files agree."""

import re
import tomllib
from pathlib import Path

import pytest

import nearlinear
from benchmarks.drift import Figure, compare

ROOT = Path(__file__).parents[1]
WORKFLOWS = ROOT / ".github" / "workflows"
needs_workflows = pytest.mark.skipif(not WORKFLOWS.exists(), reason="an sdist has no workflows")


@pytest.mark.parametrize(
    ("name", "pattern"),
    [("CHANGELOG.md", r"^## \[(.+?)\]"), ("CITATION.cff", r"^version: (\S+)$")],
)
def test_versions_agree_with_the_package(name, pattern):
    named = re.search(pattern, (ROOT / name).read_text("utf-8"), re.M).group(1)
    # A release candidate X.Y.ZrcN has the section and the citation of X.Y.Z.
    assert named == nearlinear.__version__.partition("rc")[0]


@needs_workflows
def test_the_oldest_job_has_the_lower_bounds():
    """Of all hard dependencies, so that what pyproject.toml promises is what CI has tried."""
    job = re.search(
        r"- name: oldest\n.*?pins: (.*?)\n", (WORKFLOWS / "ci.yml").read_text("utf-8"), re.S
    )
    with open(ROOT / "pyproject.toml", "rb") as file:
        project = tomllib.load(file)["project"]
    pinned = {one.removesuffix(".*").removesuffix(".0") for one in job.group(1).split()}
    assert pinned == {one.replace(">=", "==") for one in project["dependencies"]}
    assert f'python: "{project["requires-python"].removeprefix(">=")}"' in job.group(0)


def test_drift_tells_what_left_its_noise():
    before = {"a": Figure(100, "bytes"), "b": Figure(2.0, "x linear model", 0.3)}
    now = {"a": Figure(102, "bytes"), "b": Figure(3.0, "x linear model", 0.1)}
    assert [(one.name, one.is_worse) for one in compare(before, now)] == [("a", True)]
    assert [one.change for one in compare(before, {"a": before["a"]})] == [None]
