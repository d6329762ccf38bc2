"""Kernels of a fit and the memory for their matrices; from machines to a predictor."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..._config import allowed_memory, get_config
from ...gpu.device import free_bytes, machine_bytes, on_device
from ...kernels.family import fix_kernels, parse_kernels
from ...kernels.grams import DOUBLE_ROWS, Grams
from ...kernels.standard import OnColumns, Precomputed
from ...predictors.kernel_expansion import KernelExpansion
from ...solvers.anchors.dual import warn_if_loose
from ...solvers.machine.bias import FixedBias, FreeBias
from ...solvers.machine.problem import MachineSolution
from ...solvers.machine.working_sets import WorkingSets, solve_kernel_machine
from ...solvers.mixture.objective import Descent, KernelObjective, solve_symmetric
from ...solvers.watch import Watch
from .checks import require_memory
from .model import Learned
from .outputs import Teller, each_output

# Limit of the memory for Gram matrices where max_memory is not configured.
_GRAM_BYTES = 1 << 29
# A machine on rows computed on demand needs so many at once, or so many bytes of them.
_FEWEST_ROWS, _SMALLEST_WORKSPACE = 256, 1 << 26
# Tiles of Gram matrices and scales of rows, whatever the number of rows.
_TILES = 10 << 20
# As large as the budget, at once: matrices kept, in work, among free rows, and its factor.
_MATRICES = 4


@dataclass(frozen=True)
class KernelSetup:
    """Training rows, their kernels, and the bytes that matrices may take.

    ``listed`` are the kernels as they were asked for; ``kernels`` those of them that differ from
    zero, at the places ``kept``, with their scales. Precomputed kernels name rows by ``landmarks``.
    """

    rows: object
    listed: list
    kernels: list
    kept: np.ndarray
    landmarks: np.ndarray | None
    max_bytes: float
    n_jobs: int | None
    machine: object = WorkingSets()  # how machines are solved
    make_grams: Callable = Grams
    solve_symmetric: Callable = solve_symmetric

    def grams(self, rows=None):
        """Gram matrices of all or some rows; they are kept where machines read them."""
        X = self.rows.X if rows is None else self.rows.X[rows]
        room = self.max_bytes if self.machine.reads_matrices else 0
        return self.make_grams(
            self.kernels, X, max_bytes=room, n_jobs=self.n_jobs, landmarks=self.landmarks
        )

    def objective(self, grams, problem, bias):
        return KernelObjective(
            grams, problem, bias, self.machine, self.max_bytes, self.solve_symmetric
        )


def kernel_setup(model, rows, listed=None):
    """Kernels of a model and the memory for their Gram matrices, on its device.

    ``listed`` are kernels that stand in place of those of the model.
    """
    return on_its_device(model, host_setup(model, rows, listed))


def host_setup(model, rows, listed=None):
    """The same on the CPU, whatever the device of the model is."""
    landmarks = None
    if listed is None:
        listed, landmarks = _listed_kernels(model, rows)
    kernels, kept = fix_kernels(listed, rows.X, model.normalization)
    budget = gram_bytes(rows, len(kernels))
    return KernelSetup(rows, listed, kernels, kept, landmarks, budget, model.n_jobs)


def on_its_device(model, setup):
    """A setup whose machines are solved on the device of the model, if it has one."""
    device = getattr(model, "device", "cpu")
    if device == "cpu":
        return setup
    return replace(
        setup,
        max_bytes=device_bytes(setup.rows.X, device),
        n_jobs=1,  # one machine after another
        machine=WorkingSets(scheme=on_device(device, solve_kernel_machine)),
        make_grams=on_device(device, Grams),
        solve_symmetric=on_device(device, solve_symmetric),
    )


def _listed_kernels(model, rows):
    if not model._is_precomputed:
        listed = parse_kernels(model.kernels, rows.n_features)
        if rows.n_gating:
            listed = [OnColumns(kernel, range(rows.n_features)) for kernel in listed]
        return listed, None
    if model.normalization == "diagonal":
        raise ValueError(
            "Precomputed kernels cannot be given a unit diagonal, since new rows come without "
            "theirs; divide them yourself and take normalization=None."
        )
    return [Precomputed(m) for m in range(rows.X.shape[2])], np.arange(rows.X.shape[1])[:, None]


def gram_bytes(rows, n_kernels):
    """Bytes for Gram matrices, such that the whole fit stays below the configured limit."""
    n_rows = rows.X.shape[0]
    itemsize = 8 if n_rows <= DOUBLE_ROWS else 4
    vectors = n_rows * (200 + 16 * n_kernels + 8 * rows.targets.shape[1])
    other = vectors + min(_TILES, 40 * n_rows**2)
    workspace = min(_SMALLEST_WORKSPACE, itemsize * n_rows * min(n_rows, _FEWEST_ROWS))
    require_memory(other + _MATRICES * workspace, "give fewer rows")
    limit = get_config()["max_memory"]
    return _GRAM_BYTES if limit is None else (limit - other) / _MATRICES


def device_bytes(X, device):
    """Bytes of a device for machines and Gram matrices, if they are enough for machines."""
    free = free_bytes(device)
    limit = allowed_memory() if free is None else min(free, get_config()["max_memory"] or free)
    require_memory(machine_bytes(*X.shape[:2]), "give fewer rows, or leave device out", limit)
    return limit


def bias_named(bias):
    """How the dual treats a bias, by its name in ``bias=``."""
    return FreeBias() if bias == "free" else FixedBias(1.0 if bias == "penalized" else 0.0)


@dataclass(frozen=True)
class Weighed:
    """Kernel weights and machine of one output, with the gap of both together."""

    weights: np.ndarray
    machine: MachineSolution
    objective: float
    gap: float
    n_iter: int
    urgency: np.ndarray | None = None  # of every kernel, where the method knows it


def learn_mixture(model, rows, weigh, bias="free"):
    """A machine on a weighted sum of kernels for each output.

    ``weigh(model, descent)`` gives the ``Weighed`` of one output.
    """
    return learn_setup(model, kernel_setup(model, rows), weigh, bias)[0]


def learn_setup(model, setup, weigh, bias, starts=None):
    """The same on a setup, and the ``Weighed`` of every output.

    ``starts`` has weights of the kernels of the setup for every output: ``weigh(model, descent,
    start)`` goes on from them.
    """
    rows, tell = setup.rows, Teller(model)
    grams, descent = setup.grams(), None

    def solve(problem):
        nonlocal descent
        descent = None
        objective = setup.objective(grams, problem, bias_named(bias))
        descent = Descent(objective, watch=Watch())
        more = () if starts is None else (starts[tell.output],)
        return weigh(model, descent, *more)

    def last_weights(problem):
        if descent is None or descent.watch.last is None:
            return None
        objective = descent.objective
        last = objective.certified(objective.of_all(*descent.watch.last), tol=np.inf)
        return Weighed(last.weights, last.machine, last.objective, last.gap, descent.n_machines)

    problems = rows.task.problems(rows, model.C, getattr(model, "epsilon", None))
    found, was_interrupted = each_output(problems, solve, tell, last_weights)
    warn_if_loose(found, model.tol, type(model).__name__)
    weights = np.zeros((len(found), len(setup.listed)))
    weights[:, setup.kept] = [one.weights for one in found]
    predictor = _expansion(setup, found)
    attributes = {
        "kernels_": setup.listed,
        "kernel_weights_": one_or_all(weights),
        **certificate(found),
        **support_attributes(predictor.support.shape[0], rows),
    }
    kept = "the last weights are" if was_interrupted else None
    return Learned(predictor, attributes, kept=kept), found


def _expansion(setup, found):
    """Rows and kernels that some output uses."""
    rows, units = setup.rows, setup.rows.task.units
    dual = np.stack([one.machine.dual_coef for one in found], axis=1)
    weights = np.stack([one.weights for one in found])
    support = np.flatnonzero(np.any(dual != 0.0, axis=1))
    used = np.flatnonzero(np.any(weights > 0.0, axis=0))
    coefficients = units.spread * weights.T[used, None, :] * dual[support]
    dtype = rows.X.dtype
    return KernelExpansion(
        tuple(setup.kernels[m] for m in used),
        (rows.X if setup.landmarks is None else setup.landmarks)[support],
        np.ascontiguousarray(coefficients, dtype=dtype),
        np.array([units.unscaled(one.machine.bias) for one in found], dtype=dtype),
        rows.X.shape[1],
    )


def certificate(found):
    """Objective and gap of all outputs together, and the steps of the slowest."""
    return {
        "objective_": float(sum(one.objective for one in found)),
        "duality_gap_": float(sum(one.gap for one in found)),
        "n_iter_": max(one.n_iter for one in found),
    }


def support_attributes(n_support, rows):
    """Rows that the model keeps, and the unit of its values if they have one."""
    attributes = {"n_support_": n_support, "support_share_": n_support / rows.X.shape[0]}
    return {**attributes, **rows.task.unit_attributes}


def one_or_all(values):
    """What belongs to the one output, or to each of several."""
    return values[0] if len(values) == 1 else values
