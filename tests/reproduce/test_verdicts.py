"""docs/results/reproduction.md says what the rows say."""

from math import nan
from pathlib import Path

from grids import in_one_test

from reproduce import verdicts
from reproduce.verdicts import Cell

ROOT = Path(__file__).parents[2]


def _cell(values, **changed):
    known = {"printed": 90.0, "spread": 0.5, "values": values}
    return Cell("accuracy", "ldkl", "banana", **known | changed)


@in_one_test(
    "cell, word",
    [
        (_cell([]), "not run"),
        (_cell([89.0, 90.4]), "met"),
        (_cell([89.8, 89.81, 89.79]), "missed"),  # less than the spread below print, but no luck
        (_cell([91.0, 91.1, 91.2]), "beaten"),
        (_cell([91.0, 91.1, 91.2], less_is_better=True), "missed"),
        # One printed draw is not exact: only what our draws do not reach is missed.
        (_cell([89.0, 89.4, 90.2], spread=nan, one_draw=True), "met"),
        (_cell([88.0, 88.1, 88.2], spread=nan, one_draw=True), "missed"),
        (_cell([88.0, 88.1, 88.2], spread=nan, one_draw=True, less_is_better=True), "beaten"),
    ],
)
def test_word(cell, word):
    assert cell.word == word


def test_the_page_is_that_of_the_rows():
    assert verdicts.PAGE.read_text(encoding="utf-8") == verdicts.page()


def test_every_number_that_is_missed_or_not_run_says_why():
    silent = [
        f"{name}: {cell.quantity} of {cell.method} on {cell.dataset}"
        for name in verdicts.PAPERS
        for cell in verdicts.cells_of(name)
        if cell.word in ("missed", "not run") and not cell.note
    ]
    assert not silent


def test_the_readme_shows_the_bottom_line():
    _, n_run, n_reached = verdicts.bottom_line()
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"{n_reached} of {n_run}" in " ".join(text.split())
