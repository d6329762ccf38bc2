"""A gate learned as it was published: by turns with its machine, along the plain gradient.

Gönen and Alpaydın (ICML 2008), section 3: the machine is solved for the gate, the gate's parameters
take a step down the gradient of J, and so on. The length of a step comes from a line search, for
which a machine is solved at every trial. The gradient has length one, so that lengths are in the
unit of the parameters.
"""

import numpy as np

from ..watch import Progress, Watch
from .gate import rounded_machine

_FIRST_LENGTH, _SHORTEST = 1.0, 1e-4


def learn_gate_by_steps(objective, gate, *, tol, max_iter, inner_tol=1e-3, margin=1e-3, watch=None):
    """Descend on J from ``gate`` until a step lowers it by less than ``tol`` of its value.

    A trial that lowers J is tried at twice the length, and so on while J falls; one that does not,
    at half the length. The next search begins at the length that was taken. The gate is rounded
    at the end and its machine solved once more, to ``tol``. The watch keeps the best gate so far.
    """
    watch = Watch() if watch is None else watch
    watch.keep(gate)
    value, gradient, _ = objective(gate, inner_tol)
    length = _FIRST_LENGTH
    for step in range(1, max_iter + 1):
        found = _line_search(objective, gate, value, gradient, length, inner_tol)
        if found is None:
            break
        before = value
        gate, value, gradient, length = found
        if watch(Progress(step, float(value), state=gate)) or before - value < tol * abs(before):
            break
    return rounded_machine(objective, gate, watch, tol=tol, margin=margin)


def _line_search(objective, gate, value, gradient, length, inner_tol):
    """A gate lower on J with its value, gradient and the length that led there; None if none is."""
    size = float(np.linalg.norm(gradient))
    if not size > 0.0:
        return None

    def at(length):
        trial = gate.with_parameters(gate.parameters - (length / size) * gradient)
        return trial, *objective(trial, inner_tol)[:2], length

    found = at(length)
    if found[1] < value:
        while (longer := at(2.0 * found[3]))[1] < found[1]:
            found = longer
        return found
    while length > _SHORTEST:
        length *= 0.5
        if (found := at(length))[1] < value:
            return found
    return None
