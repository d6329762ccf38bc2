"""The example of abstention shows what it says."""

import re

EXAMPLE = "calibration/plot_abstention.py"


def shares(printed, rule):
    """The six percentages in the line of a rule."""
    (line,) = [line for line in printed.splitlines() if line.startswith(rule)]
    return [float(number) for number in re.findall(r"([\d.]+) %", line)]


def test_abstention_keeps_the_ordinary_rows_and_drops_the_strangers(printed):
    assert "support score exactly 0 for 1000 of 1000" in printed
    always, margin, support = (
        shares(printed, rule) for rule in ("always answer", "|f| not small", "support score")
    )
    assert always[0] == always[2] == always[4] == 100.0
    assert always[3] > 30.0  # confident errors on near strangers ...
    assert margin[3] == always[3]  # ... which a small margin does not betray
    assert support[3] < 5.0
    assert support[4] == support[5] == 0.0
    assert support[0] > 98.0
    assert support[1] > 98.0
