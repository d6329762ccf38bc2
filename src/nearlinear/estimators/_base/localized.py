"""Machines on gated kernels: one for each output, and what they report."""

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from ..._hints import Rows
from ...predictors.combined import Stacked
from ...predictors.kernel_expansion import KernelExpansion
from ...solvers.anchors.dual import warn_if_loose
from ...solvers.localized.landmarks import landmark_bytes
from ...solvers.localized.success import (
    MOST_MACHINES,
    learn_success,
    side_by_side,
    single_kernels,
    stratified_folds,
)
from ...solvers.machine.exchange import AVERAGING, Exchange
from .checks import require_memory
from .input import scored_rows
from .kernels import certificate, host_setup, on_its_device, one_or_all, support_attributes
from .model import Learned
from .outputs import Teller, each_output

# C and ε of the regressions of success. C is the default of scikit-learn's SVR, with which the
# method was published. With SVR's ε of 0.1 the solver would order kernels up to 2ε apart.
_SUCCESS_C, SUCCESS_EPSILON = 1.0, 0.01
# Up to so many rows regressions of success use all rows, O(n²) kernel values; beyond, they are
# solved in the span of the kernel at so many landmarks, in O(n q) memory.
_MAX_REGRESSED_ROWS, _N_LANDMARKS = 10_000, 500
# A component that gets less than this of a row's answer is shut for it.
SHUT = 1e-3
# Any other ``solver`` has machines by working sets.
_MACHINES = {"mwu": Exchange(), "averaging": AVERAGING}


@dataclass(frozen=True)
class Localized:
    """What one output has learned; ``support`` are the rows that it keeps."""

    predictor: object
    support: np.ndarray
    objective: float
    gap: float
    n_iter: int
    attributes: dict = field(default_factory=dict)


def localized_setup(model, rows):
    """The kernels of a model, and how ``solver`` wants machines to be solved."""
    return with_machines(model, gated_setup(model, rows))


def gated_setup(model, rows):
    """The kernels alone, for what needs no machines."""
    if model._is_precomputed:
        raise ValueError(
            f"{type(model).__name__} needs rows, not kernels='precomputed': how much each "
            "kernel answers depends on where a row lies."
        )
    return host_setup(model, rows)


def with_machines(model, setup):
    setup = on_its_device(model, setup)
    if model.solver not in _MACHINES:
        return setup
    if getattr(model, "device", "cpu") != "cpu":
        raise ValueError(
            f"{type(model).__name__}(solver={model.solver!r}) reads columns of kernels, one after "
            "another, which is no work for a device: take solver='smo', or leave device out."
        )
    return replace(setup, machine=_MACHINES[model.solver])


def learn_localized(model, setup, solve, rescue=None, tell=None):
    """A localized machine for each output.

    ``solve(problem)`` gives the ``Localized`` of one output; ``rescue`` and ``tell`` are those of
    ``each_output``.
    """
    tell = tell or Teller(model)
    problems = setup.rows.task.problems(setup.rows, model.C, getattr(model, "epsilon", None))
    found, was_interrupted = each_output(problems, solve, tell, rescue)
    warn_if_loose(found, max(model.tol, setup.machine.finest), type(model).__name__)
    outputs = tuple(one.predictor for one in found)
    n_support = int(np.any([one.support for one in found], axis=0).sum())
    attributes = {
        "kernels_": setup.kernels,
        **{k: one_or_all([one.attributes[k] for one in found]) for k in found[0].attributes},
        **certificate(found),
        **support_attributes(n_support, setup.rows),
    }
    return Learned(
        outputs[0] if len(outputs) == 1 else Stacked(outputs),
        attributes,
        kept="the best gate so far is" if was_interrupted else None,
    )


def component_scores(setup, coefficients, biases=0.0, kernel_of=None):
    """f_q(x) of every component, whose kernel is ``kernel_of[q]``; by default there is one each."""
    n_components = len(coefficients)
    return KernelExpansion.of_machines(
        setup.kernels, np.arange(n_components) if kernel_of is None else kernel_of, setup.rows.X,
        coefficients, np.broadcast_to(biases, n_components), setup.rows.n_features,
    )  # fmt: skip


def kernel_success(model, setup, problem, rng):
    """For every kernel: its machines, what they have found, and all regressions as one function."""
    singles = single_kernels(
        setup.kernels, setup.rows.X, setup.machine, tol=model.tol,
        max_bytes=setup.max_bytes,
    )  # fmt: skip
    folds = ()
    if model.success == "out_of_fold":
        folds = stratified_folds(problem.targets, model.n_folds, rng)
    learn = partial(
        learn_success, problem=problem, weight=setup.rows.weight, C=_SUCCESS_C,
        epsilon=SUCCESS_EPSILON, folds=folds, n_landmarks=_count_landmarks(model, setup),
    )  # fmt: skip
    found = side_by_side(learn, singles, setup.n_jobs)
    coefficients = np.array([success.regression.dual_coef for success in found])
    biases = [success.regression.bias for success in found]
    return singles, found, component_scores(setup, coefficients, biases)


def _count_landmarks(model, setup):
    """Number of landmarks of the regressions of success; None to regress on all rows."""
    n_rows = setup.rows.X.shape[0]
    if n_rows <= _MAX_REGRESSED_ROWS:
        return None
    n_bytes = min(MOST_MACHINES, len(setup.kernels)) * landmark_bytes(n_rows, _N_LANDMARKS)
    require_memory(n_bytes, "give fewer rows")
    return _N_LANDMARKS


def gate_values(self: Any, X: Rows) -> np.ndarray:
    """How much each component answers for each row, shape (n_rows, n_components).

    One such array for each class if there are more than two.
    """
    return gates_at(self, scored_rows(self, X))


def gates_at(model, X):
    """The gate, or that of every class, at rows that were checked."""
    gates = model.gate_
    return [gate(X) for gate in gates] if isinstance(gates, list) else gates(X)


def gate_attributes(gate, gates, path, support):
    is_open = gates > 0.0
    return {
        "gate_": gate,
        "objective_path_": np.array(path),
        "component_share_": is_open.mean(axis=0),
        "n_support_per_component_": (is_open & support[:, None]).sum(axis=0),
    }
