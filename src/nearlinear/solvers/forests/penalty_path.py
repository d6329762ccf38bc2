"""λ of a refit, found on held-out rows, where every step is a pass over all other rows.

λ falls from one phase to the next, and each phase goes on from the models of the last one. Held-out
rows judge the models at its end. After two phases without a better one the path ends; the largest λ
that is about as good as the best gets some more passes, or none if leaves are best left as grown.
"""

from dataclasses import replace

import numpy as np

from ..quasi_newton import numbered, of_numbers, restored_search, search_state
from .leaf_search import LeafSearch

_FIRST, _NEXT, _LAST, _ALONE = 6, 4, 8, 20  # passes of a phase
_SMALL = 2e-4  # a pass that lowers the objective by less, as a share, is the last of its phase
_PATIENCE = 2


class LeafPath:
    """A refit that is told the sums of all rows at ``trial`` again and again, until ``is_over``.

    ``lams`` fall. ``judge(models)`` is the loss of held-out rows, and ``choose(losses)`` the λ of
    about the lowest by the losses of each, ∞ being leaves as grown; with neither of them there is
    one λ. ``most_trees`` is how many trees add to one output.
    """

    def __init__(self, grown, lams, most_trees, judge=None, choose=None):
        if judge is None and len(lams) != 1:
            raise ValueError("Without held-out rows there is nothing that λ could be chosen by.")
        self._lams, self._judge, self._choose = tuple(map(float, lams)), judge, choose
        self._search = LeafSearch.of(grown, self._lams[0], most_trees)
        self._kept, self._losses, self._waited = [], {}, 0
        self._left = _ALONE if judge is None else _FIRST
        self._is_last = judge is None
        self.is_over = False
        if judge is not None:
            self._losses[np.inf] = judge(self._search.grown)

    @property
    def trial(self):
        """Models that the next pass is over."""
        return self._search.trial

    @property
    def models(self):
        """The best ones of the present λ."""
        return self._search.models

    @property
    def lam(self):
        return self._search.lam

    @property
    def search(self):
        return self._search

    def advance(self, sums):
        """Take in ``LeafSums`` of all rows at ``trial``."""
        before, self._search = self._search, self._search.after(sums)
        self._left -= 1
        fell = before.objective - self._search.objective
        is_small = 0.0 < fell <= _SMALL * abs(self._search.objective)
        if self._left > 0 and not is_small:
            return
        if self._is_last:
            self.is_over = True
        else:
            self._end_phase()

    def _end_phase(self):
        lam, best = self._search.lam, min(map(np.mean, self._losses.values()))
        self._losses[lam] = self._judge(self._search.models)
        self._kept.append(self._search.models)
        self._waited = 0 if np.mean(self._losses[lam]) < best else self._waited + 1
        if self._waited < _PATIENCE and len(self._kept) < len(self._lams):
            self._search = self._search.with_penalty(self._lams[len(self._kept)])
            self._left = _NEXT
            return
        chosen = self._choose(self._losses)
        self._is_last = True
        if np.isinf(chosen):
            self._search = replace(self._search.from_models(self._search.grown), lam=chosen)
            self.is_over = True
            return
        models, self._kept, self._left = self._kept[self._lams.index(chosen)], [], _LAST
        self._search = self._search.with_penalty(chosen).from_models(models)

    @property
    def losses(self):
        """Of held-out rows, by λ."""
        return dict(self._losses)

    def state(self):
        """Arrays, and plain values, from which ``restore`` goes on to the same bits."""
        arrays, plain = search_state(self._search.search)
        arrays |= numbered("kept", self._kept) | numbered("losses", list(self._losses.values()))
        arrays["curves"] = self._search.curves
        plain["lams"] = [None if np.isinf(lam) else lam for lam in self._losses]
        plain |= {"lam": self._search.lam, "left": self._left, "waited": self._waited}
        return arrays, plain | {"is_last": self._is_last}

    def restore(self, arrays, plain):
        search = restored_search(arrays, plain)
        self._search = replace(
            self._search, search=search, curves=arrays["curves"], lam=plain["lam"]
        )
        lams = [np.inf if lam is None else lam for lam in plain["lams"]]
        self._kept = of_numbers("kept", arrays)
        self._losses = dict(zip(lams, of_numbers("losses", arrays), strict=True))
        self._left, self._waited = plain["left"], plain["waited"]
        self._is_last = plain["is_last"]
