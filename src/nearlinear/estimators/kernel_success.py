"""What SwMKL and LD-MKL share: a machine and a regression of its success for every kernel."""

from numbers import Real

import numpy as np

from .._compile import count_threads, run_blocks
from ..predictors.component_scores import ComponentScores
from ..solvers.bias_steps import FreeBias
from ..solvers.success import SingleKernel, learn_success, stratified_folds
from .constraints import SHARED, at_least, one_of, positive
from .gated_machine import GATED_CONSTRAINTS, GatedMachines

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
    **GATED_CONSTRAINTS,
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
        found = [None] * len(singles)

        def work(start, stop):
            for m in range(start, stop):
                found[m] = learn_success(
                    singles[m], problem, place.rows.weight, C=self.success_C,
                    epsilon=self.success_epsilon, folds=folds,
                )  # fmt: skip

        run_blocks(work, len(singles), 1, self.n_jobs)
        return singles, found

    def _singles(self, place):
        side_by_side = min(count_threads(self.n_jobs), len(place.kernels))
        options = {"tol": self.tol, "max_bytes": place.max_bytes / side_by_side}
        return [
            SingleKernel(kernel, place.rows.X, place.learning, FreeBias(), **options)
            for kernel in place.kernels
        ]

    def _expected(self, place, found):
        """The regressions of success as a function of rows."""
        return ComponentScores.of_machines(
            place.kernels, np.arange(len(found)), place.rows.X,
            np.array([success.regression.dual_coef for success in found]),
            [success.regression.bias for success in found], self.n_features_in_,
        )  # fmt: skip
