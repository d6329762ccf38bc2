"""Losses of scores on a device, as Newton steps read them: pulls, bends, and what proves them.

A pull r is minus the slope of the loss in the scores, with C_i. For a model w and the pulls at its
scores, Σ_i r_i z_i = v is feasible for the dual of ½ ‖w‖² + Σ_i C_i loss_i, and w is above the
optimum by at most

    ½ ‖w − v‖² + Σ_i slack_i,

where the slack is by how much a loss and its conjugate miss the product of score and pull: nothing
for smooth losses. All is in float64.
"""

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Bends:
    """By how much pulls fall when scores change: weights ∘ (changes − ⟨chances, changes⟩)."""

    weights: torch.Tensor
    chances: torch.Tensor | None = None

    def __call__(self, changes):
        if self.chances is not None:
            changes = changes - (self.chances * changes).sum(1, keepdim=True)
        return self.weights * changes

    def take(self, rows):
        return Bends(self.weights[rows], None if self.chances is None else self.chances[rows])


class Margins:
    """Hinges, each output a problem of its own: pulls y a with a = clip(ā + s (1 − y f), 0, u).

    The squared hinge has ā = 0, s = 2C and u = ∞. The hinge has u = C and is smoothed by a
    proximal term (a − ā)² / 2s of the dual, s = C / width. Where ā follows a, both end at the
    dual of the hinge itself.
    """

    def __init__(self, targets, C, is_squared, width, start=None):
        self.y, self.C, self.is_squared = targets, C[:, None], is_squared
        self.upper = torch.full_like(self.C, torch.inf) if is_squared else self.C
        self.width = torch.full_like(targets[0], width)
        self._center = torch.zeros_like(targets)
        if start is not None and not is_squared:
            self._center = torch.minimum(start.clamp_min(0.0), self.upper)

    def joined(self, totals):
        """One number for each problem, from one for each output."""
        return totals

    @property
    def _scale(self):
        return 2.0 * self.C.expand_as(self.y) if self.is_squared else self.C / self.width

    def dual(self, scores):
        """a."""
        wanted = self._center + self._scale * (1.0 - self.y * scores)
        return torch.minimum(wanted.clamp_min(0.0), self.upper)

    def pulls(self, scores):
        return self.y * self.dual(scores)

    def bends(self, scores):
        a = self.dual(scores)
        return Bends(torch.where((a > 0.0) & (a < self.upper), self._scale, 0.0))

    def value(self, scores):
        """Σ_i C_i loss_i."""
        short = (1.0 - self.y * scores).clamp_min(0.0)
        return (self.C * (short.square() if self.is_squared else short)).sum(0)

    def slack(self, scores):
        if self.is_squared:
            return torch.zeros_like(self.width)
        margin = 1.0 - self.y * scores
        return (self.C * margin.clamp_min(0.0) - self.dual(scores) * margin).sum(0)

    def follow(self, scores, which, narrower):
        """Move ā of some outputs to a, and smooth less."""
        self._center = torch.where(which, self.dual(scores), self._center)
        self.width = torch.where(which, narrower * self.width, self.width)


class Chances:
    """The log loss: logistic for one output, softmax for several, which are one problem."""

    def __init__(self, targets, C):
        self.y, self.C = targets, C[:, None]

    def joined(self, totals):
        return totals.sum(0, keepdim=True)

    def _chances(self, scores):
        """Of +1 for one output, of every class for several."""
        return torch.sigmoid(scores) if self.y.shape[1] == 1 else torch.softmax(scores, 1)

    def dual(self, scores):
        return None

    def pulls(self, scores):
        return self.C * ((self.y > 0).to(scores.dtype) - self._chances(scores))

    def bends(self, scores):
        chances = self._chances(scores)
        if self.y.shape[1] == 1:
            return Bends(self.C * chances * (1.0 - chances))
        return Bends(self.C * chances, chances)

    def value(self, scores):
        if self.y.shape[1] == 1:
            losses = torch.nn.functional.softplus(-self.y * scores)
        else:
            rest = torch.logsumexp(scores, 1, keepdim=True)
            losses = rest - torch.where(self.y > 0, scores, 0.0).sum(1, keepdim=True)
        return (self.C * losses).sum(0)

    def slack(self, scores):
        return torch.zeros_like(scores[0, :1])
