"""One model in many threads: the same bits as in one."""

import pickle
import sys

import numpy as np
from test_concurrency import KINDS, N_THREADS, make, together

from .apart import call
from .examples import three_classes
from .report import Count


def run(count):
    """``count`` predictions, dealt to the threads and to models of every kind."""
    what = f"predictions by {N_THREADS} threads that share a model"
    return call(shared, count, what=what, timeout=600)


def shared(count):
    """Every kind of model in turn, with threads that change places as often as they can."""
    X, y = three_classes()
    each = max(1, count // (N_THREADS * len(KINDS)))
    kinds = list(KINDS)[: count // (N_THREADS * each)]
    found = Count(f"predictions by {N_THREADS} threads that share a model, {len(kinds)} kinds")
    sys.setswitchinterval(1e-6)
    for kind in kinds:
        model = make(kind).fit(X, y)
        parts = [X[first : first + 5] for first in range(0, 175, 5)]
        expected = [model.decision_function(part) for part in parts]
        # what a model works out at its first prediction is not in a pickle
        fresh = pickle.loads(pickle.dumps(model))

        def differ(fresh=fresh, parts=parts, expected=expected):
            numbers = [number % len(parts) for number in range(each)]
            return [
                not np.array_equal(fresh.decision_function(parts[number]), expected[number])
                for number in numbers
            ]

        for answers in together(*[differ] * N_THREADS):
            for is_other in answers:
                found.add(*(("other", kind) if is_other else ("identical",)))
    return [found]
