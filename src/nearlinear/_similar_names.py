"""Suggestions for misspelled names."""

from collections.abc import Iterable
from difflib import SequenceMatcher, get_close_matches

_MAX_SUGGESTIONS = 3


def did_you_mean(names: Iterable[str]) -> str:
    """A question such as ``did you mean LDKL or LMKL? ``; empty without names."""
    question = " or ".join(names)
    return f"did you mean {question}? " if question else ""


def similar_names(name: str, known: Iterable[str]) -> list[str]:
    """The known names with the fewest typing errors between them and ``name``, at most three.

    Only letters and digits count, in any case. A typing error is a letter that is missing, extra
    or wrong, or two neighbors that are swapped. With an error in every third letter or more, the
    name that shares the longest blocks of letters is given, if it shares more than half of them.
    """
    word, known = _plain(name), list(known)
    errors = {other: _count_errors(word, _plain(other)) for other in known}
    if word and errors and min(errors.values()) <= max(1, len(word) // 4):
        fewest = min(errors.values())
        nearest = [other for other in known if errors[other] == fewest]
        nearest.sort(key=lambda other: _similarity(word, _plain(other)), reverse=True)
        return nearest[:_MAX_SUGGESTIONS]
    by_word = {_plain(other): other for other in reversed(known)}
    return [by_word[match] for match in get_close_matches(word, by_word, n=1)]


def _plain(name):
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def _similarity(a, b):
    """Order of names with equally many errors: first those that consist of the same letters."""
    return sorted(a) == sorted(b), SequenceMatcher(None, a, b).ratio()


def _count_errors(a, b):
    """Optimal string alignment distance: insertions, deletions, substitutions, transpositions."""
    before, last = [], list(range(len(b) + 1))
    for i, letter in enumerate(a, start=1):
        row = [i]
        for j, other in enumerate(b, start=1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == b[j - 2] and a[i - 2] == other:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        before, last = last, row
    return last[-1]
