"""What a release says of itself in several places is the same everywhere."""

import re
import tomllib

import pytest

from benchmarks.drift import Figure, compare
from release import versions

WORKFLOWS = versions.ROOT / ".github" / "workflows"
needs_workflows = pytest.mark.skipif(not WORKFLOWS.exists(), reason="an sdist has no workflows")


def test_versions_and_the_recipe_agree_with_the_package():
    assert versions.disagreements() == []
    assert versions.recipe_disagreements() == []


def test_a_tag_names_the_version_and_a_release_had_a_candidate(monkeypatch):
    monkeypatch.setattr(versions, "version", lambda: "9.9.9rc2")
    assert versions.tag_objections("v9.9.9rc2") == []
    assert "must be v9.9.9rc2" in versions.tag_objections("v9.9.9")[0]


def test_a_release_has_a_day_and_the_citation_names_it(monkeypatch):
    monkeypatch.setattr(versions, "changes", lambda: ("0.1.0", "2030-01-31", ""))
    assert "date-released: 2030-01-31" in versions.undated()[0]
    monkeypatch.setattr(versions, "changes", lambda: ("0.1.0", "unreleased", ""))
    assert "'unreleased'" in versions.undated()[0]


@needs_workflows
def test_the_oldest_job_has_the_lower_bounds():
    """Of all hard dependencies, so that what pyproject.toml promises is what CI has tried."""
    job = re.search(
        r"- name: oldest\n.*?pins: (.*?)\n", (WORKFLOWS / "ci.yml").read_text("utf-8"), re.S
    )
    with open(versions.ROOT / "pyproject.toml", "rb") as file:
        project = tomllib.load(file)["project"]
    pinned = {one.removesuffix(".*").removesuffix(".0") for one in job.group(1).split()}
    assert pinned == {one.replace(">=", "==") for one in project["dependencies"]}
    assert f'python: "{project["requires-python"].removeprefix(">=")}"' in job.group(0)


def test_drift_tells_what_left_its_noise():
    before = {"a": Figure(100, "bytes"), "b": Figure(2.0, "x linear model", 0.3)}
    now = {"a": Figure(102, "bytes"), "b": Figure(3.0, "x linear model", 0.1)}
    assert [(one.name, one.is_worse) for one in compare(before, now)] == [("a", True)]
    assert [one.change for one in compare(before, {"a": before["a"]})] == [None]
