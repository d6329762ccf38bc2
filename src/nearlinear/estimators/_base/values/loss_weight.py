"""C of kernel machines that learn values: how closely they follow them, found on held-out rows."""

from collections.abc import Iterator
from copy import copy
from dataclasses import replace

import numpy as np

from ..capacity import choose_setting
from ..checks import cost, one_of
from ..outputs import Teller

WEIGHT = {"C": [cost(), one_of("auto")]}

USUAL = 10.0  # where no rows can be held out
# Simplest first: with the first of them a machine follows hardly more than a line. Larger ones than
# the last gain where values have no noise, and take MLLKM minutes elsewhere.
_TRIED = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
_SAMPLE = 1000  # rows, which are enough to tell how noisy values are
_FEWEST = 20
_LOOSE = 0.03
_FAR = 5.0  # spreads: a value further out would decide alone
# Large values take longest: after so many that gain less than a share, the next ones are left out.
_PATIENCE, _GAIN = 2, 0.01


def learn_weighted(model, rows, learn, judged):
    """``learn(model, rows)``; where C is "auto", with the C chosen on held-out rows.

    ``judged`` replaces ``learn`` in the search for C.
    """
    if model.C != "auto":
        return learn(model, rows)
    is_searched = not model._is_precomputed and not _is_read_once(model)
    C, tried = _found(model, rows, judged) if is_searched else (USUAL, [])
    found = {"C_": C, "settings_tried_": tried}
    learned = learn(with_weight(model, C), rows)
    return replace(learned, attributes=learned.attributes | found)


def with_weight(model, C, **parameters):
    """The model with another C; what it has learned comes along."""
    one = copy(model)
    vars(one).update(C=C, **parameters)
    return one


def weight_before(model):
    """C of a model that goes on, and what its search has found, which stays true."""
    if model.C != "auto":
        return model.C, {}
    found = {"C_": USUAL, "settings_tried_": []}
    found = {name: getattr(model, name, usual) for name, usual in found.items()}
    return found["C_"], found


def _is_read_once(model):
    return any(isinstance(getattr(model, name, None), Iterator) for name in ("kernels", "anchors"))


def _found(model, rows, judged):
    if rows.X.shape[0] < _FEWEST:
        return 1.0, []
    rng, units, tell, some = np.random.RandomState(0), rows.task.units, Teller(model), rows
    if rows.X.shape[0] > _SAMPLE:
        some = rows.take(np.sort(rng.permutation(rows.X.shape[0])[:_SAMPLE]))

    means = {}  # by part: the held-out losses of the values so far

    def losses(train, held_out, C, seed):
        before = means.setdefault(seed, [])
        if _gains_nothing(before):
            return np.full(held_out.X.shape[0], np.inf)
        quick = {"verbose": 0, "device": "cpu", "tol": max(model.tol, _LOOSE)}
        if "random_state" in vars(model):
            quick["random_state"] = seed
        one = with_weight(model, C, **{k: v for k, v in quick.items() if k in vars(model)})
        found = judged(one, train)
        if found.kept is not None:  # Ctrl-C: nothing is known of all rows yet
            raise KeyboardInterrupt
        values = found.predictor(held_out.X, n_jobs=model.n_jobs).astype(np.float64)
        errors = np.abs((values - held_out.targets)[:, 0]) / units.spread
        squares = np.minimum(errors, _FAR) ** 2
        before.append(float(np.average(squares, weights=held_out.weight)))
        tell(f"C = {C:g}", {"held-out loss": before[-1]})
        return squares

    C, tried = choose_setting(some, _TRIED, losses, rng)
    tell(f"C = {C:g} is taken", {})
    return (C, tried) if tried else (USUAL, [])


def _gains_nothing(losses):
    """Whether the last of these are hardly below the least before them."""
    earlier, last = losses[:-_PATIENCE], losses[-_PATIENCE:]
    return bool(earlier) and min(last) > (1.0 - _GAIN) * min(earlier)
