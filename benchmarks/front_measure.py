"""Fitting and timing one model of ``benchmarks front``."""

import signal
import time
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from sklearn.metrics import log_loss

import nearlinear
from benchmarks.front_models import OURS, PAIRS
from benchmarks.front_sets import MANY, held_out_parts
from nearlinear.solvers.forests.pairs import PairColumns
from reproduce.model_cost import model_bytes

LOOK = 5.0  # seconds between two looks at the CPU time
TURN, TIMED_ROWS = 1.0, 5000
WARM_ROWS = 150


class OverLimit(Exception):
    pass


@contextmanager
def at_most(seconds):
    """Raise after so many CPU seconds (where the system has such a timer).

    The clock on the wall rings: the timer of CPU time makes ``process_time`` coarse.
    """
    start = time.process_time()

    def look(*_):
        if time.process_time() - start > seconds:
            raise OverLimit

    if not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, LOOK, LOOK)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class Rows:
    """A set with its pair columns, which are screened when a model first asks for them."""

    def __init__(self, found, seed):
        self.found, self.seed, self._pairs = found, seed, None

    def part(self, takes, places=None):
        """X_train, y_train of some training rows as a model takes them."""
        split = self.found.even if takes == "even" else self.found.raw
        places = slice(None) if places is None else places
        X, y = split.X_train[places], split.y_train[places]
        return (self.pairs.joined_to(X) if takes == "pairs" else X), y

    def test(self, takes):
        split = self.found.even if takes == "even" else self.found.raw
        X = split.X_test
        return np.ascontiguousarray(self.pairs.joined_to(X) if takes == "pairs" else X)

    @property
    def pairs(self):
        """As LocalForest finds them on all training rows."""
        if self._pairs is None:
            kind = "Regressor" if self.found.is_regression else "Classifier"
            n_pairs = PAIRS.get(self.found.name, 16)
            model = getattr(nearlinear, f"LocalForest{kind}")(
                1, max_leaves=4, pairs=n_pairs, linear_root=False, leaf_model="constant",
                leaf_penalty=None, random_state=0,
            )  # fmt: skip
            found = model.fit(*self.part("raw")).pairs_
            factors = found[:, 2:].astype(np.float32)
            self._pairs = PairColumns(found[:, :2].astype(np.int32), factors)
        return self._pairs


def score_of(found, predicted, y):
    """Accuracy in percent, or the mean squared error in the target's unit."""
    if found.is_regression:
        return float(found.unit**2 * np.mean((np.ravel(predicted) - y) ** 2))
    return 100 * float(np.mean(np.ravel(predicted) == y))


def held_out_score(entry, setting, rows, smoke):
    scores, parts = [], held_out_parts(rows.found.raw.y_train, rows.seed)
    for fit, held in parts[: 1 if smoke else None]:
        model = entry.make(**setting).fit(*rows.part(entry.takes, fit))
        X, y = rows.part(entry.takes, held)
        scores.append(score_of(rows.found, model.predict(X), y))
    return float(np.mean(scores))


@dataclass(frozen=True)
class Fitted:
    """A model, the test rows as it takes them, and what was measured."""

    model: object
    X: np.ndarray
    numbers: dict


def measure(entry, rows, smoke=False):
    """Choose, fit, time."""
    setting, held_out, start = entry.settings[0], None, time.process_time()
    # Sizes for a large set are judged once: on the training rows of seed 0.
    is_judged = entry.is_judged and (rows.seed == 0 or len(rows.found.raw.y_train) < MANY)
    if len(entry.settings) > 1 or is_judged:
        scores = [held_out_score(entry, one, rows, smoke) for one in entry.settings]
        best = min if rows.found.is_regression else max
        held_out = best(scores)
        setting = entry.settings[scores.index(held_out)]
    chosen = time.process_time()
    X_train, y_train = rows.part(entry.takes)
    if entry.family in OURS:  # what is compiled now is not charged to the fit
        few = held_out_parts(y_train, 0)[0][1][:WARM_ROWS]
        entry.make(**setting).fit(X_train[few], y_train[few]).predict(X_train[few])
    begun = time.process_time()
    model = entry.make(**setting).fit(X_train, y_train)
    fit_seconds = time.process_time() - begun
    X, y = rows.test(entry.takes), rows.found.raw.y_test
    numbers = {
        "score": score_of(rows.found, model.predict(X), y),
        "us": batch_microseconds(model.predict, X, smoke),
        "one_row_us": one_row_microseconds(entry, model, X, smoke),
        "fit_seconds": fit_seconds,
        "choose_seconds": chosen - start,
        "bytes": model_bytes(model) if entry.family in OURS else None,
        "held_out": held_out,
        "setting": {key: str(value) for key, value in setting.items()},
    }
    if entry.family in OURS:
        numbers["scores_us"] = batch_microseconds(model.predictor_, X, smoke)
    if hasattr(model, "plan_"):
        numbers["plan"] = str(model.plan_)
    if rows.found.is_binary and hasattr(model, "predict_proba"):
        numbers["log_loss"] = float(log_loss(y, model.predict_proba(X)))
    return Fitted(model, X, numbers)


def batch_microseconds(predict, X, smoke):
    """The best of as many calls as fit in a second, and of two at least."""
    X, taken = np.tile(X, (-(-TIMED_ROWS // len(X)), 1)), []
    while len(taken) < 2 or (sum(taken) < TURN and not smoke):
        start = time.process_time()
        predict(X)
        taken.append(time.process_time() - start)
    return 1e6 * min(taken) / len(X)


def one_row_microseconds(entry, model, X, smoke):
    call = model.compile() if entry.family in OURS else lambda x: model.predict(x[None])
    taken, begun = [], time.perf_counter()
    for x in X[: 20 if smoke else 500]:
        start = time.perf_counter()
        call(x)
        taken.append(time.perf_counter() - start)
        if time.perf_counter() - begun > TURN:
            break
    return 1e6 * float(np.median(taken))
