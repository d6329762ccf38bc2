"""Conformal kernels for every output: candidates, choice, collapse, predictor."""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ...gates.clustering import fit_anchors, limit_to_distinct
from ...kernels.candidates import ConformalBank, ConformalScales
from ...kernels.conformal import PROFILES
from ...kernels.conformal_grams import ConformalGrams
from ...kernels.row_scales import Absolute
from ...predictors.conformal_linear import ConformalLinear
from ...solvers.anchors.dual import warn_if_loose
from ...solvers.conformal.local_kernels import LocalKernels
from ...solvers.conformal.refinement import refine
from ...solvers.machine.epochs import ascend_by_epochs
from ...solvers.machine.working_sets import WorkingSets
from ...solvers.mixture.active_set import (
    SequentialSolution,
    certified,
    keep_largest,
    solve_on_sample,
    solve_sequential,
)
from ...solvers.mixture.objective import Descent, Evaluation, KernelObjective
from ...solvers.watch import Watch
from .checks import require_memory
from .kernels import bias_named, certificate, one_or_all
from .model import Learned
from .outputs import Teller, each_output

# Up to this many rows a machine's Gram matrix is built; beyond, features are computed on the fly.
_GRAM_ROWS = 500
# How exactly a machine of all rows is solved where Ctrl-C leaves a sample's weights.
_LOOSE = 0.1
# Relative to one over the rows' median squared distance.
_BANDWIDTHS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)


@dataclass(frozen=True)
class Chosen:
    """Kernels of one output, their machine and local models; the gap is over all candidates."""

    bank: ConformalBank
    evaluation: Evaluation
    kernels: LocalKernels
    gap: float
    n_iter: int
    urgency: np.ndarray  # of every candidate

    @property
    def objective(self):
        return self.evaluation.objective


def learn_kernels(model, rows, bank, problems, rng, starts=None):
    """What is learned from candidates, and the ``Chosen`` of every output: a stream goes on there.

    ``starts`` are weights of the candidates for every output, from which a search goes on.
    """
    tell, descent = Teller(model), None
    grams = ConformalGrams(bank, rows.X, model.n_jobs)
    machine = _machine(model, rng)

    def solve(problem):
        nonlocal descent
        descent = None
        objective = _objective(model, grams, problem, machine)
        descent = Descent(objective, watch=Watch(tell.steps("round")))
        start = None if starts is None else starts[tell.output]
        found = _choose(model, descent, start)
        chosen = _collapsed(model, bank, objective, found, rows.X)
        return chosen if model.refinement is None else _refined(model, chosen, grams, problem)

    def last_weights(problem):
        if descent is None or descent.watch.last is None:
            return None
        objective, (last, which) = descent.objective, descent.watch.last
        if len(last.machine.dual_coef) < len(rows.X):  # a sample's: it must hold for all rows
            last = descent.at(last.weights, _LOOSE, which)
        last = objective.certified(objective.of_all(last, which), tol=np.inf)
        used = np.flatnonzero(last.weights)
        found = SequentialSolution(
            last.take(used), last.weights, last.gap, descent.n_machines, []
        )  # fmt: skip
        return _collapsed(model, bank, objective, found, rows.X)

    found, was_interrupted = each_output(problems, solve, tell, last_weights)
    predictor, attributes = predictor_of(
        model, rows, [one.kernels for one in found], [one.evaluation.weights for one in found],
        dual_coef_of(found),
    )  # fmt: skip
    attributes = {**attributes, **certificate(found), "n_priced_": len(bank)}
    kept = "the last weights are" if was_interrupted else None
    return Learned(predictor, attributes, kept=kept), found


def dual_coef_of(found):
    """Shape (n_rows, n_outputs)."""
    return np.stack([one.evaluation.machine.dual_coef for one in found], axis=1)


def scales_of(model, X, weight):
    """Bandwidths and lengths of kernels around any anchor."""
    return ConformalScales.of_rows(
        X, weight, PROFILES[model.profile], model.per_feature,
        _checked_bandwidths(model.bandwidths), model.length_exponent,
    )  # fmt: skip


def predictor_of(model, rows, kernels, weights, dual_coef):
    """The predictor and what users see of it; kernels that several outputs use are stored once.

    ``kernels`` are LocalKernels, and ``weights`` theirs, of every output.
    """
    anchors, places = np.unique(
        np.concatenate([np.column_stack([one.gammas, one.anchors]) for one in kernels]),
        axis=0, return_inverse=True,
    )  # fmt: skip
    units, dtype = rows.task.units, rows.X.dtype
    models = units.spread * np.concatenate([one.models for one in kernels])
    output_of = np.repeat(np.arange(len(kernels)), [len(one.gammas) for one in kernels])
    order = np.argsort(places, kind="stable")
    predictor = ConformalLinear(
        np.ascontiguousarray(anchors[:, 1:], dtype=dtype), anchors[:, 0].astype(dtype),
        models[order].astype(dtype), places[order].astype(np.int64), output_of[order],
        np.array([units.unscaled(one.bias) for one in kernels], dtype=dtype),
        model.profile, model.per_feature,
    )  # fmt: skip
    table = np.zeros((len(kernels), len(anchors)))
    table[output_of, places] = np.concatenate(weights)
    return predictor, {
        "kernel_weights_": one_or_all(table),
        "n_kernels_": len(anchors),
        "n_support_": int(np.any(dual_coef != 0.0, axis=1).sum()),
        **rows.task.unit_attributes,
    }


def require_room(model, rows):
    """Memory for vectors of rows and candidates, one working matrix, and blocks of gates."""
    n_rows, n_features = rows.X.shape
    n_anchors = min(model.n_anchors or n_rows, n_rows)
    if hasattr(model.anchors, "__len__") and not isinstance(model.anchors, str):
        n_anchors = len(model.anchors)
    n_candidates = n_anchors * n_bandwidths(model)
    matrices = 5 * 8 * min(n_rows, _GRAM_ROWS) ** 2
    blocks = 1 << 24
    # rows in single precision, and in double for the certificate
    size = n_rows * (120 + 12 * n_features) + n_candidates * (40 + 16 * n_features)
    advice = "lower n_anchors, give fewer rows"
    require_memory(size + matrices + blocks, advice)


def placed_anchors(model, rows, rng):
    """Distinct anchors: "rows", "kmeans" or given ones."""
    anchors, n_anchors = model.anchors, model.n_anchors
    if not isinstance(anchors, str):
        return np.unique(checked_anchors(anchors, rows), axis=0)
    n_anchors = int(n_anchors or rows.n_distinct)
    if anchors == "kmeans":
        n_anchors = limit_to_distinct(n_anchors, rows.n_distinct, "n_anchors")
        return fit_anchors(rows.X, n_anchors, rng, rows.weight)
    distinct = np.r_[True, np.any(rows.X[1:] != rows.X[:-1], axis=1)]
    numbers = np.flatnonzero(distinct)  # equal rows are neighbors in the canonical order
    if len(numbers) > n_anchors:
        numbers = np.sort(rng.choice(numbers, n_anchors, replace=False))
    return rows.X[numbers]


def checked_anchors(anchors, rows):
    """Points in the space of the rows."""
    given = _checked_numbers(anchors, 2, "anchors").astype(rows.X.dtype)
    if given.shape[1] != rows.X.shape[1]:
        raise ValueError(
            f"anchors have {given.shape[1]} features and X has {rows.X.shape[1]}: "
            "give anchors in the space of the rows."
        )
    return given


def n_bandwidths(model):
    found = _checked_bandwidths(model.bandwidths)
    return np.size(found.value) if isinstance(found, Absolute) else len(found)


def _checked_bandwidths(bandwidths):
    """Relative bandwidths in order; None stands for six over two and a half decades."""
    if bandwidths is None:
        return np.array(_BANDWIDTHS)
    if isinstance(bandwidths, Absolute):
        return Absolute(np.unique(bandwidths.value))
    numbers = np.unique(_checked_numbers(bandwidths, 1, "bandwidths"))
    if not numbers[0] > 0:
        raise ValueError(f"bandwidths must be numbers above 0, not {bandwidths!r}.")
    return numbers


def _checked_numbers(given, n_axes, name):
    """Finite numbers, at least one, in an array of so many axes."""
    try:
        numbers = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.empty(0)
    if numbers.ndim != n_axes or numbers.size == 0 or not np.all(np.isfinite(numbers)):
        shape = "one row of" if n_axes == 1 else "a table (n_anchors, n_features) of"
        seen = " ".join(repr(given).split())[:80]
        raise ValueError(f"{name} must be {shape} finite numbers, not {seen}.")
    return numbers


def _machine(model, rng):
    """How machines are solved: to a duality gap, or for some epochs."""
    if model.machine_epochs is None:
        return WorkingSets()
    if model.bias == "free":
        raise ValueError(
            f"{type(model).__name__}(machine_epochs={model.machine_epochs}) takes steps on single "
            "rows, which a free bias does not allow: take bias='none', as published, or "
            "bias='penalized'."
        )
    seed = int(rng.randint(np.iinfo(np.int32).max))
    return WorkingSets(scheme=partial(ascend_by_epochs, n_epochs=model.machine_epochs, seed=seed))


def _objective(model, grams, problem, machine):
    gram_bytes = grams.dtype.itemsize * _GRAM_ROWS**2
    return KernelObjective(grams, problem, bias_named(model.bias), machine, gram_bytes)


def _choose(model, descent, start):
    """Kernels and their weights; of many rows, a sample chooses the kernels."""
    objective, n_rows = descent.objective, descent.objective.grams.n_rows
    options = {
        "tol": model.tol, "max_rounds": model.max_iter, "watch": descent.watch, "start": start,
    }  # fmt: skip
    if model.selection_rows is not None and n_rows > model.selection_rows:
        # rows are in the order of their hashes, which is as good as any random one
        some = np.arange(n_rows)[:: -(-n_rows // model.selection_rows)]
        grams, problem = objective.grams.on_rows(some), objective.problem.take(some)
        sample = _objective(model, grams, problem, objective.machine)
        found = solve_on_sample(descent, Descent(sample, watch=descent.watch), **options)
        return certified(objective, found, tol=model.tol)
    found = certified(objective, solve_sequential(descent, **options), tol=model.tol)
    if model.machine_epochs is None:  # else it was asked for
        warn_if_loose([found], model.tol, type(model).__name__)
    return found


def _collapsed(model, bank, objective, found, X):
    """The kernels that stay, with explicit local models, which need no support rows."""
    now, kept = keep_largest(objective, found, model.max_kernels, model.tol)
    if now is not found.evaluation:
        now = objective.certified(now, 0.5 * model.tol, kept)
    bank, dual_coef = bank.take(kept), now.machine.dual_coef
    used = np.flatnonzero(dual_coef)
    feature_sums = bank.collect(X[used].astype(np.float64), dual_coef[used], np.arange(len(bank)))
    kernels = LocalKernels.collapse(bank, now.weights, feature_sums, now.machine.bias)
    gap = now.objective - (found.evaluation.objective - found.gap)
    return Chosen(bank, now, kernels, gap, found.n_rounds, found.urgency)


def _refined(model, chosen, grams, problem):
    """The same with local models, or all of the kernels, improved by gradient."""
    ridge = chosen.bank.divisors / chosen.evaluation.weights
    refined = refine(
        chosen.kernels.shifted(grams.origin), grams.X, problem, ridge, bias_named(model.bias),
        moves=model.refinement, n_jobs=model.n_jobs,
    )  # fmt: skip
    return replace(chosen, kernels=refined.shifted(-grams.origin))
