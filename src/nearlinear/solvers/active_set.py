"""Sequential multiple kernel learning: few kernels at work, all others only priced.

Kernels enter when their price S_m = aᵀK_m a exceeds that of the mixture and leave when their
weight is zero. The certificate covers every kernel that has been priced with the last dual
vector; at the end these are all of them.
"""

from dataclasses import dataclass

import numpy as np

from .kernel_learning import Evaluation
from .kernel_weights import solve_newton

# New kernels share this much of the weight.
_ENTRY_SHARE = 0.1


@dataclass(frozen=True)
class SequentialSolution:
    """Weights of all kernels; ``n_rounds`` of pricing, ``history`` of (gap, kernels at work)."""

    evaluation: Evaluation
    weights: np.ndarray
    gap: float
    n_rounds: int
    history: list


def solve_sequential(
    learning, *, tol, insertions=30, max_rounds=100, chunk=None, max_iter=200, on_round=None
):
    """Minimize J over the simplex of all kernels of ``learning``.

    Parameters
    ----------
    learning : KernelLearning
        The kernels and the problem.
    tol : float
        Relative duality gap to reach, over all kernels.
    insertions : int
        Most kernels that enter in one round.
    max_rounds : int
        Most rounds of pricing.
    chunk : int or None
        Kernels arrive as a stream in chunks of this many; those once refused are priced again
        only when the stream has ended. None prices all kernels in every round.
    max_iter : int
        Most Newton steps in a round.
    on_round : callable or None
        Receives (round, evaluation, gap).
    """
    everyone = learning.everyone
    arrived = len(everyone) if chunk is None else min(chunk, len(everyone))
    active = _first_kernels(learning, everyone[:arrived], insertions)
    weights = np.full(len(active), 1.0 / len(active))
    relative, history = np.inf, []
    for round_ in range(1, max_rounds + 1):
        learning.grams.keep(active)
        inner = float(np.clip(0.3 * relative, 0.5 * tol, 0.05))
        now = solve_newton(learning, weights, tol=inner, which=active, max_iter=max_iter)
        kept = now.weights > 0
        active, weights, quadratics = active[kept], now.weights[kept], now.quadratics[kept]
        now = Evaluation(weights, now.machine, quadratics)
        complete = arrived == len(everyone)
        # a stream prices what is new; once it has ended, everything
        first = 0 if complete else max(0, arrived - (chunk or 0))
        others = np.setdiff1d(everyone[first:arrived], active)
        prices = learning.grams.quadratics(now.machine.dual_coef, others)
        gap = now.gap(prices.max() if len(prices) else None)
        history.append((gap / max(now.value, 1e-300), len(active)))
        if on_round is not None:
            on_round(round_, now, gap)
        if complete and gap <= tol * now.value:
            break
        relative = gap / max(now.value, 1e-300) if complete else 0.1
        mixture = weights @ quadratics
        entering = others[prices > mixture * (1.0 + 1e-6)]
        best_first = np.argsort(-prices[prices > mixture * (1.0 + 1e-6)], kind="stable")
        entering = entering[best_first[:insertions]]
        if len(entering):
            active = np.concatenate([active, entering])
            shared = np.full(len(entering), _ENTRY_SHARE / len(entering))
            weights = np.concatenate([(1.0 - _ENTRY_SHARE) * weights, shared])
        elif complete and relative <= inner:
            relative = 0.5 * tol  # nothing to add: what is missing is precision
        arrived = min(len(everyone), arrived + (chunk or 0))
    full = np.zeros(len(everyone))
    full[active[: len(now.weights)]] = now.weights
    return SequentialSolution(now, full, gap, round_, history)


def _first_kernels(learning, candidates, count):
    """The kernels that agree best with the targets."""
    targets = learning.problem.targets
    direction = (targets - targets.mean()) / len(targets)
    prices = learning.grams.quadratics(direction, candidates)
    return candidates[np.argsort(-prices, kind="stable")[:count]]
