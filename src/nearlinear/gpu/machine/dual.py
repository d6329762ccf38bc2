"""The dual problem of a machine as tensors: its box, its losses, and its certificate.

    max_a  yᵀa − ε‖a‖₁ − ½ aᵀKa,     lower ≤ a ≤ upper   (and Σa = 0 with a free bias)

as in ``solvers/machine/problem.py``. All is in float64.
"""

import torch

from .searches import root


class Dual:
    """Linear term, box and ε of the dual on a device."""

    def __init__(self, problem, bias, device):
        def put(values):
            return torch.as_tensor(values, dtype=torch.float64, device=device)

        self.targets, self.lower, self.upper = map(
            put, (problem.targets, problem.lower, problem.upper)
        )
        self.epsilon, self.shift, self.has_free_bias = problem.epsilon, bias.shift, bias.is_free
        self.sizes = torch.maximum(self.upper, -self.lower)
        self.zero, self.one = put(0.0), put(1.0)

    def clipped(self, values):
        return torch.minimum(torch.maximum(values, self.lower), self.upper)

    def nearest(self, values, scale):
        """argmin_a ½ (a − v)² + scale ε |a| in the box, elementwise."""
        if self.epsilon:
            short = (values.abs() - scale * self.epsilon).clamp_min(0.0)
            values = torch.sign(values) * short
        return self.clipped(values)

    def is_inside(self, coef):
        """Rows where ``nearest`` moves with its argument."""
        inside = (coef > self.lower) & (coef < self.upper)
        return inside & (coef != 0.0) if self.epsilon else inside

    def feasible(self, coef):
        """The same with Σa = 0, at the cost of rows between their bounds, or of all where these
        are too few."""
        if not self.has_free_bias:
            return coef
        width = self.upper - self.lower
        some = self._balanced(coef, torch.where(self.is_inside(coef), width, 0.0))
        is_good = bool(some.sum().abs() <= 1e-9 * some.abs().sum())
        return some if is_good else self._balanced(coef, width)

    def _balanced(self, coef, width):
        def total(moves):
            return self.clipped(coef - moves[:, None] * width).sum(1)

        return self.clipped(coef - root(total, -self.one, self.one) * width)

    def best_bias(self, slack):
        """The b that minimizes Σ_i loss_i(slack_i − b)."""
        if not self.has_free_bias:
            return self.zero

        def pull(biases):
            left = slack - biases[:, None]
            above, below = left > self.epsilon, left < -self.epsilon
            return above.double() @ self.upper + below.double() @ self.lower

        return root(pull, slack.min() - self.epsilon - 1.0, slack.max() + self.epsilon + 1.0)

    def balance(self, near, slack, width):
        """The b for which Σ nearest(near + s (slack − b), s) = 0, with s = C / width."""
        scale = self.sizes / width

        def total(biases):
            return self.nearest(near + scale * (slack - biases[:, None]), scale).sum(1)

        reach = self.epsilon + 2.0 * width  # all rows are at a bound there
        return root(total, slack.min() - reach, slack.max() + reach)

    def certificate(self, coef, scores):
        """Primal value and duality gap of a feasible vector whose scores are K a."""
        slack = self.targets - scores
        left, quadratic = slack - self.best_bias(slack), coef @ scores
        above, below = (left - self.epsilon).clamp_min(0.0), (-left - self.epsilon).clamp_min(0.0)
        primal = 0.5 * quadratic + self.upper @ above - self.lower @ below
        dual = self.targets @ coef - self.epsilon * coef.abs().sum() - 0.5 * quadratic
        return torch.stack([primal, primal - dual])
