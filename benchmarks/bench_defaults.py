"""Small tables with defaults: every classifier and regressor as its constructor leaves it.

Three folds of seventeen tables to classify and nine to predict a number in (``default_tables``),
each fit on one thread in a process that ends after two minutes of CPU. One row for each table,
fold and model goes to results/defaults_rows.jsonl at once; rows that are there are not measured
again unless asked for, so a run can be stopped and continued. results/defaults.md is the summary.

    python -m benchmarks defaults
    python -m benchmarks defaults --only SVC LightGBM --tables german credit --again
"""

import json
import os
import select
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

import nearlinear
from benchmarks.bench_fit import THREADS
from benchmarks.default_child import LINEAR, MAKERS, NAMES, is_own
from benchmarks.default_tables import CLASSIFICATION, N_FOLDS, REGRESSION, missing_packages
from benchmarks.report import FOLDER, Result, publish

TABLES = {"classification": tuple(CLASSIFICATION), "regression": tuple(REGRESSION)}
TABLE_NAMES = (*CLASSIFICATION, *REGRESSION)
LIMIT = 120.0
OVER_LIMIT = f"over {LIMIT:g} s of CPU"
# The models that this library is about: their defaults must bear a table with little to learn.
MUST_NOT_FALL = ("LDKL", "LLC-SAPL", "LLSVM", "CSVM")
ROWS, SUMMARY = "defaults_rows.jsonl", "defaults.md"
# A point of accuracy, or of R².
POINT = 0.01
SMOKE_TABLES = ("ionosphere", "auto")
SMOKE_MODELS = ("LogisticRegression", "Ridge", "LDKL", "UniformMKL")


class Worker:
    """A child that fits one model; a new one is started after each that was ended."""

    def __init__(self, task, model):
        self.command = [sys.executable, "-m", "benchmarks.default_child", task, model]
        self.process = None

    def ask(self, table, fold):
        """The numbers of a fit, or a word on why there are none."""
        if self.process is None:
            self._start()
        before = cpu_seconds_of(self.process.pid)
        self.process.stdin.write(f"{table} {fold}\n")
        self.process.stdin.flush()
        # CPU seconds: a busy machine does not end a fit.
        while not select.select([self.process.stdout], [], [], 1.0)[0]:
            if cpu_seconds_of(self.process.pid) - before > LIMIT:
                self.process.kill()
                self.close()
                return {"failed": OVER_LIMIT}
        return json.loads(self._answer())

    def _start(self):
        environment = os.environ | dict.fromkeys(THREADS, "1")
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            self.command, env=environment, stdin=pipe, stdout=pipe, text=True
        )
        self._answer()  # it is ready

    def _answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{' '.join(self.command)} ended without an answer")
        return line

    def close(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()
            self.process = None


def cpu_seconds_of(pid):
    """What a process has used so far (Linux; elsewhere 0, and no fit is ended)."""
    stat = Path(f"/proc/{pid}/stat")
    if not stat.exists():
        return 0.0
    # The name, in brackets, may hold anything; user and system time are 12th and 13th after it.
    fields = stat.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure_missing(path, models, tables, n_folds, again):
    """Add the rows that are not in the file yet."""
    rows = read(path)
    if again:
        rows = [row for row in rows if row["model"] not in models or row["table"] not in tables]
        write(path, rows)
    there = {(row["task"], row["model"], row["table"], row["fold"]) for row in rows}
    for task, makers in MAKERS.items():
        for model in (name for name in makers if name in models):
            wanted = [
                (table, fold)
                for table in TABLES[task]
                for fold in range(n_folds)
                if table in tables and (task, model, table, fold) not in there
            ]
            if wanted:
                measure_model(path, task, model, wanted)


def measure_model(path, task, model, wanted):
    worker, slow = Worker(task, model), set()
    with path.open("a", encoding="utf-8") as file:
        for table, fold in wanted:
            # One fold over the limit speaks for the others.
            found = {"failed": OVER_LIMIT} if table in slow else worker.ask(table, fold)
            if found.get("failed") == OVER_LIMIT:
                slow.add(table)
            key = {"task": task, "table": table, "fold": fold, "model": model}
            print(json.dumps(key | found | {"version": nearlinear.__version__}), file=file)
            file.flush()
    worker.close()
    print(f"  {task}: {model}, {len(wanted)} fits", flush=True)


def read(path):
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write(path, rows):
    text = "".join(json.dumps(row) + "\n" for row in rows)
    path.write_text(text, encoding="utf-8")


@dataclass(frozen=True)
class Standing:
    """One model over all tables; what it failed on ranks last and has no part in the means."""

    model: str
    mean_rank: float
    mean_score: float
    n_below_linear: int
    log_loss_excess: float
    fit_seconds: float
    predict_us: float
    n_failed: int


def standings(rows, task):
    """Of the models that have been tried on every table that any has, best mean rank first."""
    rows = [row for row in rows if row["task"] == task]
    tables = sorted({row["table"] for row in rows})
    folds = {row["fold"] for row in rows}
    found = {}
    for row in rows:
        found.setdefault(row["model"], {}).setdefault(row["table"], []).append(row)
    complete = {
        model: by_table
        for model, by_table in found.items()
        if all(len(by_table.get(table, ())) == len(folds) for table in tables)
    }
    for model in found.keys() - complete.keys():
        print(f"  {task}: {model} has not been tried on every table and is left out")
    if LINEAR[task] not in complete:
        return []
    mean = {
        quantity: np.array(
            [
                [mean_of(by_table[table], quantity) for table in tables]
                for by_table in complete.values()
            ]
        )
        for quantity in ("score", "log_loss", "fit_seconds", "predict_us")
    }
    scores, linear = mean["score"], list(complete).index(LINEAR[task])
    has_failed = np.isnan(scores)
    ranks = rankdata(np.where(has_failed, np.inf, -scores), axis=0)
    # Within rounding of a mean, a point is not more than a point.
    is_below = has_failed | (scores < scores[linear] - POINT - 1e-12)
    excess = mean["log_loss"] - mean["log_loss"][linear]
    standing = [
        Standing(
            model,
            ranks[index].mean(),
            nanmean(scores[index]),
            int(is_below[index].sum()),
            nanmean(excess[index]),
            len(folds) * float(np.nansum(mean["fit_seconds"][index])),
            nanmean(mean["predict_us"][index]),
            int(has_failed[index].sum()),
        )
        for index, model in enumerate(complete)
    ]
    return sorted(standing, key=lambda one: one.mean_rank)


def mean_of(rows, quantity):
    """NaN where a fold has no such number."""
    values = [row.get(quantity) for row in rows]
    return np.nan if None in values else float(np.mean(values))


def nanmean(values):
    return np.nan if np.isnan(values).all() else float(np.nanmean(values))


def results_of(standing, task):
    case = f"{task}, {len(standing)} models"
    linear = LINEAR[task]
    for one in standing:
        note = f"tables not done in {LIMIT:g} s of CPU or failed: {one.n_failed}"
        note = note if one.n_failed else ""
        yield Result(case, f"{one.model}, mean rank", one.mean_rank, note=note)
        yield Result(
            case, f"{one.model}, tables more than a point below {linear}", one.n_below_linear,
            target=1 if one.model in MUST_NOT_FALL else None,
        )  # fmt: skip
        if not np.isnan(one.log_loss_excess):
            title = f"{one.model}, log loss − {linear}'s"
            yield Result(case, title, one.log_loss_excess)
        yield Result(case, f"{one.model}, all fits", one.fit_seconds, "s")


def summary(rows):
    """Both tasks as Markdown tables; our own methods in bold."""
    lines = []
    for task in TABLES:
        standing = standings(rows, task)
        if not standing:
            continue
        is_regression = task == "regression"
        score, linear = ("R²" if is_regression else "accuracy, %"), LINEAR[task]
        n_tables = len({row["table"] for row in rows if row["task"] == task})
        lines += [
            f"{n_tables} tables of {task}, {N_FOLDS} folds, defaults after a `StandardScaler`:",
            "",
            f"| | mean rank of {len(standing)} | mean {score} | tables more than a point below "
            f"{linear} | log loss − {linear}'s | all fits, s | µs per row |",
            "| --- | --- | --- | --- | --- | --- | --- |",
        ]
        if is_regression:
            lines[-2] = lines[-2].replace(f" log loss − {linear}'s |", "")
            lines[-1] = lines[-1].removesuffix(" --- |")
        for one in standing:
            title = f"**{one.model}**" if is_own(one.model) else one.model
            late = f" ({one.n_failed} not done in {LIMIT:g} s)" if one.n_failed else ""
            excess = "–" if np.isnan(one.log_loss_excess) else f"{one.log_loss_excess:+.3f}"
            mean_score = f"{one.mean_score:.3f}" if is_regression else f"{100 * one.mean_score:.2f}"
            cells = [title + late, f"{one.mean_rank:.1f}", mean_score, str(one.n_below_linear)]
            cells += [] if is_regression else [excess]
            cells += [f"{one.fit_seconds:.3g}", f"{one.predict_us:.2g}"]
            lines.append(f"| {' | '.join(cells)} |")
        lines.append("")
    return "\n".join(lines)


def run(smoke=False, folder=FOLDER, only=None, tables=None, again=False):
    missing = missing_packages()
    if missing:
        print(f"  no tables without {' and '.join(missing)}: pip install --group bench")
        return []
    models = only or (SMOKE_MODELS if smoke else NAMES)
    tables = tables or (SMOKE_TABLES if smoke else TABLE_NAMES)
    folder.mkdir(exist_ok=True)
    measure_missing(folder / ROWS, models, tables, 1 if smoke else N_FOLDS, again)
    rows = read(folder / ROWS)
    (folder / SUMMARY).write_text(summary(rows), encoding="utf-8")
    return [result for task in TABLES for result in results_of(standings(rows, task), task)]


if __name__ == "__main__":
    publish("defaults", run())
