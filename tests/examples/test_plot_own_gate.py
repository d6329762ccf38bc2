"""The example of a gate of one's own shows what it says."""

import re

EXAMPLE = "methods/plot_own_gate.py"


def test_the_gradient_is_that_of_finite_differences(printed):
    error = re.search(r"finite differences: off by (\S+)$", printed, re.M).group(1)
    assert float(error) < 1e-5


def test_the_gate_of_ones_own_beats_those_that_are_there(printed):
    table = re.findall(r"^(\D+?) +(\d+) +([\d.]+) +([\d.]+)$", printed, re.M)
    assert len(table) == 4
    errors = {(name, int(size)): (float(same), float(later)) for name, size, same, later in table}
    same_days, later = errors.pop(("taking turns", 2))
    assert same_days < min(same for same, _ in errors.values())
    assert later < 0.5 * min(later for _, later in errors.values())


def test_the_period_is_learned(printed):
    learned, true, known = map(float, re.search(
        r"period: (\S+) days learned, (\S+) true, (\S+) known before", printed
    ).groups())  # fmt: skip
    assert abs(learned - true) < 0.05 < abs(known - true)
