"""Which points are on a front: those that no other one beats in both time and loss."""

import numpy as np

_NOISE = 1.25  # by which measured times of one model differ: less is no lead


def front(points):
    """Places of such points ``(time, loss)``, cheapest first; of equal ones, the first."""
    found, lowest = [], np.inf
    for place in sorted(range(len(points)), key=points.__getitem__):
        loss = points[place][1]
        if loss < lowest:
            found, lowest = [*found, place], loss
    return found


def measured_front(points):
    """The same for times that were measured: who is slower by noise alone is not slower.

    So of models that cost the same the best one stays, and a front hardly changes from run to run.
    """
    return [
        place for place in front(points)
        if not any(us <= _NOISE * points[place][0] and loss < points[place][1]
                   for us, loss in points)
    ]  # fmt: skip


def knee(points):
    """The place from which on more time buys little, None without points.

    It is the one farthest above the line from the cheapest point of the front to the most accurate
    one, in log time; the most accurate one where none is above it, as of two points.
    """
    places = measured_front(points)
    if not places:
        return None
    us, loss = np.array([points[place] for place in places]).T
    time = np.log(us / us[0])
    gain = (loss[0] - loss) / max(loss[0] - loss[-1], 1e-300)
    above = gain - time / max(time[-1], 1e-300)
    return places[len(above) - 1 - int(above[::-1].argmax())]
