"""Local models for a fixed gate, by the solver that suits the loss."""

from functools import partial

import numpy as np

from .._compile import run_blocks
from ..losses import LOSSES
from .gated_logistic import solve_gated_smooth
from .linear_svm import solve_gated_svm
from .solution import GatedSolution


def _hinge_box(C):
    return C, np.zeros_like(C)


def _squared_hinge_box(C):
    return np.full_like(C, np.inf), 0.5 / C


# Losses whose dual is a box: one coordinate-descent problem per output.
_DUAL_BOXES = {"hinge": _hinge_box, "squared_hinge": _squared_hinge_box}


def solve_local_models(
    X, indices, codes, targets, *, loss, C, n_components, tol, max_iter, rng, n_jobs, start=None
):
    """Minimize ½ Σ_j (‖W_j‖² + ‖b_j‖²) + Σ_i C_i loss(y_i, f(x_i)) for given codes.

    Returns the solution of all outputs and the list of solutions that carry the certificates.
    """
    if loss not in _DUAL_BOXES:
        solution = solve_gated_smooth(
            X, indices, codes, targets, loss=LOSSES[loss], C=C, n_components=n_components,
            tol=tol, max_iter=max_iter, start=start,
        )  # fmt: skip
        return solution, [solution]
    upper, ridge = _DUAL_BOXES[loss](C)
    n_outputs = targets.shape[1]
    # one seed per output, drawn before any thread starts: the result does not depend on n_jobs
    seeds = rng.randint(np.iinfo(np.int32).max, size=n_outputs)
    solve = partial(
        solve_gated_svm, X, indices, codes, upper=upper, ridge=ridge, n_components=n_components,
        tol=tol, max_epochs=max_iter,
    )  # fmt: skip
    parts = [None] * n_outputs

    def work(output, _):
        parts[output] = solve(
            targets[:, output].astype(np.float64),
            rng=np.random.RandomState(seeds[output]),
            start=None if start is None or start.dual is None else start.dual[:, output],
        )

    run_blocks(work, n_outputs, 1, n_jobs)
    return _stack(parts), parts


def _stack(parts):
    return GatedSolution(
        np.ascontiguousarray(np.concatenate([part.weights for part in parts], axis=2)),
        np.ascontiguousarray(np.concatenate([part.biases for part in parts], axis=1)),
        sum(part.objective for part in parts),
        sum(part.gap for part in parts),
        max(part.n_iter for part in parts),
        np.stack([part.dual for part in parts], axis=1),
    )
