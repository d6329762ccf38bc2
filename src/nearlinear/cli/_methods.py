"""Methods by their names, long or short, in any case."""

import re

from .._similar_names import did_you_mean, similar_names
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
    by_name |= {alias: by_name[name] for alias, name in _ALIASES.items()}
    name = _plain(text)
    if name in by_name:
        return by_name[name]
    similar = dict.fromkeys(by_name[other][0] for other in similar_names(name, by_name))
    raise CommandError(
        f"--method {text}: {did_you_mean(similar)}there are {', '.join(by_short)} (see nearlinear "
        "methods)"
    )


def is_regressor(name):
    return name.endswith("Regressor")


def _plain(text):
    return re.sub("[^a-z0-9]", "", text.lower())
