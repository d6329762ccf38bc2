"""The examples as a gallery: topics with a heading, scripts with a title, all of which run."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2] / "examples"
HEADINGS = sorted(ROOT.glob("*/GALLERY_HEADER.rst"))
TOPICS = [heading.parent for heading in HEADINGS]
SCRIPTS = sorted(
    path.relative_to(ROOT).as_posix() for topic in TOPICS for path in topic.glob("*.py")
)


def has_title(text):
    """Whether a page of RST begins with a line and another of as many equal signs."""
    first, line = text.lstrip("\n").splitlines()[:2]
    return bool(first.strip()) and line == "=" * len(first)


def test_every_topic_has_a_heading_and_every_script_lies_in_one():
    assert all(has_title(heading.read_text("utf-8")) for heading in HEADINGS)
    assert [path for path in ROOT.rglob("plot_*.py") if path.parent not in TOPICS] == []


def test_every_script_is_one_that_a_gallery_takes():
    assert len(SCRIPTS) >= 24
    assert [name for name in SCRIPTS if not Path(name).name.startswith("plot_")] == []
    texts = {name: (ROOT / name).read_text("utf-8") for name in SCRIPTS}
    titles = [ast.get_docstring(ast.parse(text), clean=False) for text in texts.values()]
    assert [name for name, title in zip(SCRIPTS, titles) if not has_title(title)] == []
    assert len({title.lstrip().partition("\n")[0] for title in titles}) == len(titles)
    lacking = [name for name, text in texts.items() if "\n# %%\n" not in text]
    lacking += [name for name, text in texts.items() if "Where it fails" not in text]
    assert [name for name in lacking if "Where they fail" not in texts[name]] == []


@pytest.mark.only_all
@pytest.mark.parametrize("name", SCRIPTS)
def test_every_script_runs(run_example, name):
    run_example(name)


def test_a_script_with_a_raw_table_runs(run_example):
    run_example("tables/plot_gaps.py")
