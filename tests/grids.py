"""Which cases of a test run.

Stacked ``parametrize`` marks make a product of lists. ``make test`` runs a part of each product:
every pair of values that two lists can form, where six cases hold all pairs, else every value.
Products of four cases or fewer run whole. ``pytest --all`` runs all. So does a test with the mark
``every_case``, and a case with it runs always: ``pytest.param(..., marks=pytest.mark.every_case)``.
"""

from collections import Counter, defaultdict
from functools import wraps
from inspect import signature
from itertools import combinations

FEW, MANY = 4, 6


def in_one_test(names, cases):
    """As ``parametrize``, but one test runs all cases: for long lists of quick ones."""
    names, cases = _split(names), list(cases)

    def decorate(test):
        @wraps(test)
        def run(**fixtures):
            for case in cases:
                values = case if len(names) > 1 else [case]
                try:
                    test(**dict(zip(names, values, strict=True)), **fixtures)
                except BaseException as error:
                    error.add_note(f"in the case {case!r}")
                    raise

        given = signature(test)
        left = [given.parameters[name] for name in given.parameters if name not in names]
        run.__signature__ = given.replace(parameters=left)
        return run

    return decorate


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
    kept = covering(cases, 2, always)
    if len(kept) > max(MANY, len(always)):
        kept = covering(cases, 1, always)
    return [item for case, item in zip(cases, product, strict=True) if case not in kept]


def _case(item, lists):
    # Values may not be hashable; the same object stands for a value in all cases.
    return tuple(tuple(id(item.callspec.params[name]) for name in names) for names in lists)


def _lists(item):
    """The argument names of each list: one mark may name several."""
    lists = [_split(mark.args[0]) for mark in item.iter_markers("parametrize")]
    marked = [name for names in lists for name in names]
    return lists + [[name] for name in item.callspec.params if name not in marked]


def _split(names):
    return [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)


def covering(cases, strength, always=()):
    """Few of the cases, with every combination of ``strength`` values that occurs in all."""
    parts = {case: set(combinations(enumerate(case), strength)) for case in cases}
    kept = set(always)
    missing = set().union(*parts.values()) - set().union(*(parts[case] for case in kept))
    used = Counter()
    while missing:
        # Among the cases with most that is new, the one whose values have been used least.
        best = max(cases, key=lambda case: (len(parts[case] & missing), -_times(used, case)))
        kept.add(best)
        missing -= parts[best]
        used.update(enumerate(best))
    return kept


def _times(used, case):
    return sum(used[value] for value in enumerate(case))
