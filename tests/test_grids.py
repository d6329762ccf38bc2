"""What is left out of a product, and what one test for many cases does."""

from itertools import combinations, product

import pytest
from grids import covering, in_one_test

CASES = list(product("abcd", "pq", "xyz", "12"))


@pytest.mark.parametrize("strength", [1, 2])
def test_every_combination_of_values_occurs_in_what_is_kept(strength):
    def combined(cases):
        return {part for case in cases for part in combinations(enumerate(case), strength)}

    kept = covering(CASES, strength)
    assert combined(kept) == combined(CASES)
    assert len(kept) <= {1: 4, 2: 14}[strength]


def test_a_case_that_must_run_is_kept():
    assert ("d", "q", "z", "2") in covering(CASES, 1, [("d", "q", "z", "2")])


def test_one_test_runs_all_cases_and_names_the_one_that_fails():
    seen = []

    @in_one_test("number, word", enumerate("abc"))
    def check(number, word, fixture):
        seen.append((number, word, fixture))
        assert word != "b"

    with pytest.raises(AssertionError) as caught:
        check(fixture="given")
    assert seen == [(0, "a", "given"), (1, "b", "given")]
    assert caught.value.__notes__ == ["in the case (1, 'b')"]
