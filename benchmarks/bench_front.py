"""Accuracy against prediction time: all of ours beside the strongest alternatives.

Models of ``front_models``, most in several sizes, on the sets of ``front_sets``. One row for each
set, model and seed goes to results/front_rows.jsonl at once; rows that are there are not measured
again unless asked for, so a run can be stopped and continued. Then the asked and the measured, the
places where we lose (results/front.jsonl), and the pictures (results/front_NAME.png and, of two
sets, results/front.png) are made from all rows.

Seconds are CPU seconds of one thread. A prediction is the ``predict`` of float32 rows that are
ready: scaled, or with pair columns, where a model wants that; the best of several. One row goes
through ``compile()`` (ours) or ``predict``: median microseconds. A fit ends after ten CPU minutes.

    python -m benchmarks front
    python -m benchmarks front --tables covertype --only LocalForest LightGBM --seeds 0 1 2
    python -m benchmarks front --targets        # nothing is measured
"""

import json
import signal
import time
import warnings
from contextlib import contextmanager

import numpy as np
from sklearn.metrics import log_loss

import nearlinear
from benchmarks import onedal_peers
from benchmarks.front_models import FOREST, OURS, PAIRS, entries
from benchmarks.front_picture import draw_all
from benchmarks.front_sets import SHAPES, front_set, held_out_parts
from benchmarks.front_targets import SUMMARY, results_of, summary
from benchmarks.quiet import say_load
from benchmarks.report import FOLDER, publish
from nearlinear.solvers.forests.pairs import PairColumns
from reproduce.model_cost import model_bytes
from reproduce.protocol import one_thread

ROWS = "front_rows.jsonl"
LIMIT, LOOK = 600.0, 5.0
TURN, TIMED_ROWS = 1.0, 5000
WARM_ROWS = 150
SMOKE_TABLES = ("magic04", "letter", "concrete")
SMOKE_ONLY = (
    f"{FOREST} 5 trees", f"{FOREST} extra trees 5", "linear", "LightGBM 2 × 255",
    "LightGBM + pairs 2 × 255", "decision tree",
)  # fmt: skip


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


def measure(entry, rows, smoke=False):
    """All numbers of one model."""
    setting, held_out, start = entry.settings[0], None, time.process_time()
    if len(entry.settings) > 1 or entry.is_judged:
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
    return numbers


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


def is_asked(entry, only):
    """A family, or one of its models by its whole title."""
    return only is None or entry.family in only or entry.title in only


def measure_missing(path, tables, only, seeds, again, smoke):
    """Add the rows that are not in the file yet."""
    there = [] if again else read(path)
    done = {(row["table"], row["model"], row["size"], row["seed"]) for row in there}
    for seed in seeds:
        for name in tables:
            wanted = [
                entry
                for entry in entries(name)
                if is_asked(entry, only) and (name, entry.family, entry.size, seed) not in done
            ]
            if wanted:
                measure_set(path, name, wanted, seed, smoke)


def measure_set(path, name, wanted, seed, smoke):
    rows = Rows(front_set(name, seed, smoke), seed)
    for entry in wanted:
        key = {"table": name, "model": entry.family, "size": entry.size, "seed": seed}
        try:
            with at_most(LIMIT), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                numbers = measure(entry, rows, smoke)
        except OverLimit:
            numbers = {"failed": f"over {LIMIT:g} s of CPU"}
        keep(path, key | numbers, rows.found)
    if not smoke:
        for row in onedal_peers.rows_of(rows, wanted):
            key = {"table": name, "seed": seed}
            keep(path, key | row, rows.found)


def keep(path, row, found):
    split = found.raw
    shape = {"n_train": len(split.y_train), "n_test": len(split.y_test), "is_real": found.is_real}
    with path.open("a", encoding="utf-8") as file:
        row = row | shape | {"version": nearlinear.__version__}
        print(json.dumps(row, ensure_ascii=False), file=file)
    told = row.get("failed") or (
        f"{row['score']:.4g} at {row['us']:.3g} µs, one row {row['one_row_us'] or 0:.3g} µs, "
        f"fit {row['fit_seconds']:.3g} s"
    )
    title = f"{row['model']} {row['size']}".strip()
    print(f"  {row['table']}, seed {row['seed']}: {title}: {told}", flush=True)


def read(path):
    """The last row of each set, model and seed."""
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    last = {(row["table"], row["model"], row["size"], row["seed"]): row for row in rows}
    return list(last.values())


def run(smoke=False, folder=FOLDER, only=None, tables=None, seeds=None, again=False, targets=False):
    say_load()
    folder.mkdir(exist_ok=True)
    path = folder / ROWS
    only = only or (SMOKE_ONLY if smoke else None)
    tables = tables or (SMOKE_TABLES if smoke else tuple(SHAPES))
    if not targets:
        with one_thread():
            measure_missing(path, tables, only, seeds or (0,), again, smoke)
    rows = [row for row in read(path) if "failed" not in row]
    draw_all(rows, folder)
    (folder / SUMMARY).write_text(summary(rows), encoding="utf-8")
    return list(results_of(rows))


if __name__ == "__main__":
    publish("front", run())
