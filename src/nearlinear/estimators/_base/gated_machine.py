"""What estimators on gated kernels share: kernels, memory, one gated machine per output."""

from dataclasses import dataclass, field, replace

import numpy as np
from sklearn.utils import check_random_state

from ...kernels.family import fix_kernels, parse_kernels
from ...kernels.grams import Grams
from ...predictors.gated import Stacked
from ...solvers.anchors.dual import warn_if_loose
from ...solvers.machine.bias import FreeBias
from ...solvers.machine.exchange import Exchange
from ...solvers.machine.working_sets import WorkingSets
from ...solvers.mixture.objective import KernelObjective
from .constraints import SHARED, one_of, without
from .kernel_machine import MACHINE_CONSTRAINTS, KernelMachine
from .progress import each_output
from .target_units import TargetUnits
from .whole_fit import keep

MACHINES = {"smo": WorkingSets(), "mwu": Exchange()}

GATED_CONSTRAINTS = {
    **without("bias", MACHINE_CONSTRAINTS),
    "solver": [one_of(*MACHINES)],
    "random_state": SHARED["random_state"],
}


@dataclass(frozen=True)
class Localized:
    """What one output has learned; ``support`` are the rows it keeps, ``details`` attributes."""

    predictor: object
    support: np.ndarray
    objective: float
    gap: float
    n_iter: int
    details: dict = field(default_factory=dict)
    was_interrupted: bool = False


@dataclass(frozen=True)
class Workplace:
    """The training rows and kernels of a fit, and the memory that matrices may take."""

    rows: object
    kernels: list
    machine: object
    max_bytes: float
    n_jobs: int | None
    units: TargetUnits
    shared: object = None  # what all outputs have in common

    def grams(self, kernels=None, rows=None):
        kept = self.max_bytes if self.machine.reads_matrices else 0
        X = self.rows.X if rows is None else self.rows.X[rows]
        return Grams(kernels or self.kernels, X, max_bytes=kept, n_jobs=self.n_jobs)

    def objective(self, grams, problem):
        return KernelObjective(grams, problem, FreeBias(), self.machine, self.max_bytes)


class GatedMachines(KernelMachine):
    """Fits one localized machine per output.

    A method adds ``_learn_output(place, problem, rng)``, which returns a ``Localized``.
    """

    bias = "free"

    def _learn(self, rows):
        rng = check_random_state(self.random_state)
        place = self._workplace(rows)
        place = replace(place, shared=self._share(place, rng))
        found, problems = [], self._problems(rows, place.units)
        for problem in each_output(self, problems):
            found.append(self._learn_output(place, problem, rng))
            if found[-1].was_interrupted:
                if len(found) < len(problems):  # nothing is known of the other classes
                    raise KeyboardInterrupt
                keep(self, "the best gate so far is")
        self._keep(found, place)

    def _share(self, place, rng):
        """What outputs share, if a method has such."""

    def gate_values(self, X):
        """How much each component answers for each row, shape (n_rows, n_components).

        One such array for each class if there are more than two.
        """
        return self._gates_of(self._check_rows(X))

    def _gates_of(self, X):
        if isinstance(self.gate_, list):
            return [gate(X) for gate in self.gate_]
        return self.gate_(X)

    def _workplace(self, rows):
        kernels, _ = fix_kernels(self._listed_kernels(rows.X), rows.X, self.normalization)
        budget = self._gram_bytes(rows, len(kernels))
        machine = MACHINES.get(self.solver, MACHINES["smo"])
        return Workplace(rows, kernels, machine, budget, self.n_jobs, self._units_of(rows))

    def _listed_kernels(self, X):
        if self._is_precomputed:
            raise ValueError(
                f"{type(self).__name__} needs rows, not kernels='precomputed': how much each "
                "kernel answers depends on where a row lies."
            )
        return parse_kernels(self.kernels, X.shape[1])

    def _keep(self, found, place):
        outputs = tuple(output.predictor for output in found)
        self.predictor_ = outputs[0] if len(outputs) == 1 else Stacked(outputs)
        self.kernels_ = place.kernels
        for name in found[0].details:
            values = [output.details[name] for output in found]
            setattr(self, name, values[0] if len(values) == 1 else values)
        self.objective_ = float(sum(output.objective for output in found))
        self.duality_gap_ = float(sum(output.gap for output in found))
        self.n_iter_ = max(output.n_iter for output in found)
        self.n_support_ = int(np.any([output.support for output in found], axis=0).sum())
        self.support_share_ = self.n_support_ / place.rows.X.shape[0]
        warn_if_loose(found, max(self.tol, place.machine.finest), type(self).__name__)

    @property
    def _score_dtype(self):
        return self.predictor_.dtype
