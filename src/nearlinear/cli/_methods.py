"""Methods by their names, long or short, in any case."""

import re
from difflib import get_close_matches

from ._errors import CommandError

_KINDS = ("Classifier", "Regressor")
# The papers' names where they are not ours.
_ALIASES = {"csvm": "clusteredsvm", "clmkl": "convexlmkl", "lmkr": "lmklregressor"}


def method_names():
    """Every estimator of the library."""
    import nearlinear

    return [name for name in nearlinear.__all__ if name.endswith(_KINDS)]


def short_names():
    """Short names and the estimators that each stands for, the classifier first."""
    found = {}
    for name in method_names():
        found.setdefault(_plain(re.sub("Classifier$|Regressor$", "", name)), []).append(name)
    return dict(sorted(found.items()))


def find_methods(text):
    """The estimators that a name stands for: one, or a classifier and a regressor."""
    by_short = short_names()
    by_name = {_plain(name): [name] for name in method_names()} | by_short
    wanted = _plain(text)
    wanted = _ALIASES.get(wanted, wanted)
    if wanted in by_name:
        return by_name[wanted]
    near = get_close_matches(wanted, by_name, n=1, cutoff=0.6)
    hint = f"did you mean {by_name[near[0]][0]}? " if near else ""
    raise CommandError(
        f"--method {text}: {hint}there are {', '.join(by_short)} (see nearlinear methods)"
    )


def is_regressor(name):
    return name.endswith("Regressor")


def _plain(text):
    return re.sub("[^a-z0-9]", "", text.lower())
