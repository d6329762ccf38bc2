"""What SwMKL and LD-MKL share: a machine and a regression of its success for every kernel."""

from numbers import Real

import numpy as np

from ..._compile import count_threads, run_blocks
from ...predictors.component_scores import ComponentScores
from ...solvers.localized.success import SingleKernel, learn_success, stratified_folds
from ...solvers.machine.bias import FreeBias
from .constraints import SHARED, at_least, one_of, positive, without
from .gated_machine import GATED_CONSTRAINTS, GatedMachines
from .progress import tell

# Machines that are solved at once, at most; each has its part of the memory.
_MOST_MACHINES = 4

SUCCESS_DOC = """success : {"training", "out_of_fold"}, default="training"
        Where a kernel's success is taken from: its machine of all rows, as published, or machines
        that have not seen the rows they are tried on. Flexible kernels are right on nearly all rows
        they have seen, which says little of them.
    n_folds : int, default=5
        Folds of "out_of_fold".
    success_C : float, default=1.0
        Weight of the losses in the regressions of success.
    success_epsilon : float, default=0.01
        Errors up to this size are free in them."""

SUCCESS_CONSTRAINTS = {
    **without("max_iter", GATED_CONSTRAINTS),
    "class_weight": SHARED["class_weight"],
    "success": [one_of("training", "out_of_fold")],
    "n_folds": [at_least(2)],
    "success_C": [positive()],
    "success_epsilon": [at_least(0.0, Real)],
}


class KernelSuccessMachines(GatedMachines):
    """Fits every kernel a machine and a regression of where that machine is right."""

    def _kernel_success(self, place, problem, rng):
        """Machine and success of every kernel alone, kernels side by side on threads."""
        folds = ()
        if self.success == "out_of_fold":
            folds = stratified_folds(problem.targets, self.n_folds, rng)
        singles = self._singles(place)

        def learn(m):
            return learn_success(
                singles[m], problem, place.rows.weight, C=self.success_C,
                epsilon=self.success_epsilon, folds=folds,
            )  # fmt: skip

        found = self._side_by_side(learn, len(singles))
        for m, success in enumerate(found):
            tell(self, f"kernel {m}", {"held-out accuracy": float(success.share)})
        return singles, found

    def _side_by_side(self, work, count):
        """[work(0), work(1), ...] on as many threads as memory was set apart for."""
        found = [None] * count

        def fill(start, stop):
            for m in range(start, stop):
                found[m] = work(m)

        run_blocks(fill, count, 1, min(count_threads(self.n_jobs), _MOST_MACHINES))
        return found

    def _singles(self, place):
        # whatever n_jobs is: a machine with more room would be solved in other precision
        room = place.max_bytes / min(_MOST_MACHINES, len(place.kernels))
        options = {"tol": self.tol, "max_bytes": room}
        return [
            SingleKernel(kernel, place.rows.X, place.machine, FreeBias(), **options)
            for kernel in place.kernels
        ]

    def _expected(self, place, found):
        """The regressions of success as a function of rows."""
        return ComponentScores.of_machines(
            place.kernels, np.arange(len(found)), place.rows.X,
            np.array([success.regression.dual_coef for success in found]),
            [success.regression.bias for success in found], self.n_features_in_,
        )  # fmt: skip
