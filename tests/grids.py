"""Which cases of a test run.

Stacked ``parametrize`` marks make a product of lists. ``make test`` runs a part of each product: with
three lists or more, every pair of values that two lists can form; with two lists, every value. Six
cases or fewer all run. ``pytest --all`` runs the whole product, and so does a test with the mark
``every_case``. A case that found a defect gets it: ``pytest.param(..., marks=pytest.mark.every_case)``.
"""

from collections import Counter, defaultdict
from itertools import combinations

FEW = 6


def left_out(items):
    """The test items that only ``--all`` runs."""
    products = defaultdict(list)
    for item in items:
        if hasattr(item, "callspec"):
            products[item.nodeid.partition("[")[0]].append(item)
    return {item for product in products.values() for item in _left_out(product)}


def _left_out(product):
    lists = _lists(product[0])
    if len(product) <= FEW or len(lists) < 2:
        return []
    cases = [_case(item, lists) for item in product]
    always = [
        case
        for case, item in zip(cases, product, strict=True)
        if item.get_closest_marker("every_case")
    ]
    kept = covering(cases, 1 if len(lists) == 2 else 2, always)
    return [item for case, item in zip(cases, product, strict=True) if case not in kept]


def _case(item, lists):
    # Values may not be hashable; the same object stands for a value in all cases.
    return tuple(tuple(id(item.callspec.params[name]) for name in names) for names in lists)


def _lists(item):
    """The argument names of each list: one mark may name several."""
    marks = [mark.args[0] for mark in item.iter_markers("parametrize")]
    lists = [
        [name.strip() for name in names.split(",")] if isinstance(names, str) else names
        for names in marks
    ]
    marked = [name for names in lists for name in names]
    return lists + [[name] for name in item.callspec.params if name not in marked]


def covering(cases, strength, always=()):
    """Few of the cases in which every combination of ``strength`` values occurs that occurs in all of them."""
    parts = {case: set(combinations(enumerate(case), strength)) for case in cases}
    kept = set(always)
    missing = set().union(*parts.values()) - set().union(*(parts[case] for case in kept))
    used = Counter()
    while missing:
        # Among the cases with most that is new, the one whose values have been used least.
        best = max(
            cases,
            key=lambda case: (
                len(parts[case] & missing),
                -sum(used[value] for value in enumerate(case)),
            ),
        )
        kept.add(best)
        missing -= parts[best]
        used.update(enumerate(best))
    return kept


def _times(used, case):
    return sum(used[value] for value in enumerate(case))
