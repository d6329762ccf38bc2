"""One version everywhere, and candidates before releases."""

import re
import subprocess
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
# A release candidate is X.Y.ZrcN; pages and recipes speak of the release X.Y.Z.
VERSION = re.compile(r"(\d+\.\d+\.\d+)(?:rc\d+)?")


def version():
    """What ``_version.py`` says."""
    text = (ROOT / "src/nearlinear/_version.py").read_text("utf-8")
    return re.search(r'^__version__ = "(.+)"$', text, re.M).group(1)


def final(name):
    """The release that a candidate stands for."""
    found = VERSION.fullmatch(name)
    return found.group(1) if found else name


def disagreements():
    """Places that name another version than ``_version.py``."""
    here = version()
    if not VERSION.fullmatch(here):
        return [f"_version.py: {here} is neither X.Y.Z nor X.Y.ZrcN."]
    said = {
        "CHANGELOG.md": changes()[0],
        "CITATION.cff": _first(r"^version: (\S+)$", "CITATION.cff"),
        "recipe/recipe.yaml": _first(r'^  version: "(\S+)"$', "recipe/recipe.yaml"),
    }
    return [
        f"{name} names {other}, and _version.py {here}: write {final(here)}."
        for name, other in said.items()
        if other != final(here)
    ]


def recipe_disagreements():
    """Requirements of the recipe that are not those of pyproject.toml."""
    with open(ROOT / "pyproject.toml", "rb") as file:
        told = tomllib.load(file)
    recipe = (ROOT / "recipe/recipe.yaml").read_text("utf-8")
    build, run = (_requirements(recipe, part) for part in ("host", "run"))
    lowest = told["project"]["requires-python"].removeprefix(">=")
    wrong = []
    for name, here, there in (
        ("host", set(told["build-system"]["requires"]), build - {"pip"}),
        ("run", set(told["project"]["dependencies"]), run),
    ):
        if here != there:
            wrong.append(
                f"recipe/recipe.yaml, {name}: {sorted(here ^ there)} stand on one side only."
            )
    if f'python_min: "{lowest}"' not in recipe:
        wrong.append(f"recipe/recipe.yaml: python_min is not {lowest}, as in pyproject.toml.")
    return wrong


def _requirements(recipe, part):
    """Those of a part in pyproject's spelling, but for Python itself."""
    block = re.search(rf"^  {part}:\n((?:    - .*\n)+)", recipe, re.M).group(1)
    lines = [line.removeprefix("    - ").replace(" ", "") for line in block.splitlines()]
    return {line for line in lines if not line.startswith("python")}


def changes():
    """The version, the date and the text of the newest section of the changelog."""
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    found = re.search(r"^## \[(.+?)\] - (\S+)\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    return found.group(1), found.group(2), found.group(3).strip()


def undated():
    """A release has a day, in the changelog and in the citation."""
    day = changes()[1]
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", day):
        return [f"CHANGELOG.md says {day!r} where the day of the release belongs (YYYY-MM-DD)."]
    if _first(r"^date-released: (\S+)$", "CITATION.cff") != day:
        return [f"CITATION.cff needs the line: date-released: {day}"]
    return []


def tag_objections(tag):
    """A tag names the version; a release had a candidate, and its candidate's tag is there."""
    here = version()
    if tag != f"v{here}":
        return [f"The tag is {tag}, and _version.py says {here}: the tag must be v{here}."]
    if here != final(here):
        return []
    listed = subprocess.run(
        ["git", "tag", "--list", f"v{here}rc*"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    return [] if listed else [f"There is no candidate v{here}rcN: release one first, and try it."]


def _first(pattern, name):
    found = re.search(pattern, (ROOT / name).read_text("utf-8"), re.M)
    return found.group(1) if found else None
