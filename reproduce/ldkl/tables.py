"""Tables 1 and 2 of the paper beside what was measured, then other tasks and learned bases.

    python -m reproduce.ldkl.tables

reads results/rows.csv and writes table1, table2, basis, multiclass, regression and claims, each
as .csv and as .md.
"""

import sys
from math import isnan, nan
from pathlib import Path

from reproduce.comparison import (
    SIGNIFICANT,
    claim_verdict,
    formatted,
    markdown_table,
    mean_and_spread,
)
from reproduce.ldkl.methods import BASIS_SIZES, STUDY, TITLES
from reproduce.report import (
    NOTHING,
    accuracy_line,
    cell,
    claim_lines,
    current_rows,
    limited_rows,
    not_run,
    overview,
    paired_test,
    printed,
    save,
    shown_datasets,
    test_columns,
    time_verdict,
    verdict_counts,
)

TABLE1 = ("linear", "kernel", "ldkl", "ldkl_original")
TABLE2 = (
    "ldkl",
    "ldkl_original",
    "ldkl_compositional",
    "ldkl_forest",
    "lmkl",
    "rff",
    "nystroem",
    "cpsp",
    "llsvm",
    "mlp",
)
# Trees compare instead of multiplying, so their cost is the measured time alone.
BOOSTED = ("lightgbm", "xgboost")
REGRESSION = ("ridge", "svr", "ldkl", "ldkl_forest", "mlp", *BOOSTED)


def datasets_of(task, cells):
    """Data sets of this task that were run; beside binary ones of the paper those only printed."""
    config = STUDY.config
    tasks = {name: entry["task"] for name, entry in config["datasets"].items()}
    tasks |= config["smoke"]["tasks"]
    found = [name for name in shown_datasets(STUDY, cells) if tasks[name] == task]
    is_paper = task == "binary" and any(name in config["datasets"] for name in found)
    printed_only = [name for name in config["printed_only"] if name not in found]
    return found + (printed_only if is_paper else [])


def accuracy_lines(cells, task, methods):
    """Accuracy, prediction time as a multiple of the linear SVM's, and gain over the RBF-SVM."""
    paper = printed(STUDY)
    for dataset in datasets_of(task, cells):
        kernel_time = _mean_time(cells.get(("kernel", dataset)))
        for method in methods:
            rows = cells.get((method, dataset))
            value, spread = paper.get(("accuracy", method, dataset), NOTHING)
            line = accuracy_line(rows, value, spread, STUDY.is_drawn(dataset))
            multiple, _ = paper.get(("times_linear", method, dataset), NOTHING)
            speed_up, _ = paper.get(("speed_up", method, dataset), NOTHING)
            line |= {"paper_times_linear": multiple, "paper_speed_up": speed_up}
            if rows:
                line |= time_columns(rows, multiple, kernel_time, speed_up)
            yield {"dataset": dataset, "method": method} | line


def time_columns(rows, multiple, kernel_time, speed_up):
    """What a prediction costs, with verdicts where the paper prints a number."""
    time, deviation = mean_and_spread([row["times_linear"] for row in rows])
    columns = {
        "times_linear": time,
        "times_linear_spread": deviation,
        "speed_up": kernel_time / _mean_time(rows),
        "us_per_row": mean_and_spread([row["predict_us_per_row"] for row in rows])[0],
        "multiply_adds": rows[0]["multiply_adds"],
        "model_bytes": rows[0]["model_bytes"],
        "n_train": rows[0]["n_train"],
        "n_test": rows[0]["n_test"],
    }
    if not isnan(multiple):
        columns["time_verdict"] = time_verdict(time, multiple)
    if not isnan(speed_up) and not isnan(kernel_time):
        columns["speed_up_verdict"] = time_verdict(1 / columns["speed_up"], 1 / speed_up)
    return columns


def _mean_time(rows):
    """Microseconds per row: beside a slow model the linear one, run in turns with it, is slower."""
    return mean_and_spread([row["predict_us_per_row"] for row in rows])[0] if rows else nan


def times_overview(lines, titles):
    """Methods by data sets: prediction time as a multiple of the linear SVM's."""
    named = {"times_linear": "measured", "times_linear_spread": "measured_spread"}
    named |= {"time_verdict": "verdict", "paper_times_linear": "paper"}
    kept = named | {"dataset": "dataset", "method": "method"}
    renamed = [{kept[name]: line[name] for name in kept if name in line} for line in lines]
    return "Prediction time, linear SVM = 1:\n\n" + overview(renamed, titles, 1)


def table1_overview(lines):
    """The paper's Table 1: a row for each data set."""
    found = {(line["method"], line["dataset"]): line for line in lines}
    body = []
    for name in dict.fromkeys(line["dataset"] for line in lines):
        linear, kernel, ours, original = (found[method, name] for method in TABLE1)
        accuracies = [cell(line, 2) for line in (linear, kernel, ours, original)]
        speed_up = _number(ours, "speed_up", "speed_up_verdict", digits=0)
        times = [_number(line, "times_linear", "time_verdict", 1) for line in (kernel, ours)]
        body.append([name, *accuracies, *times, speed_up])
    header = ["measured (paper)", *(TITLES[method] for method in TABLE1)]
    header += ["RBF-SVM, × linear", "LDKL, × linear", "LDKL over RBF-SVM"]
    return markdown_table(header, body)


def _number(line, name, verdict_name, digits):
    word = f" **{line[verdict_name]}**" if verdict_name in line else ""
    measured = formatted(line.get(name, nan), digits=digits)
    return f"{measured}{word}<br>({formatted(line[f'paper_{name}'], digits=digits)})"


def basis_lines(cells):
    """Basis vectors learned (CPSP) and drawn (Nyström), as many of each, beside the full machine.

    The difference is paired over seeds.
    """
    for dataset in datasets_of("binary", cells):
        for size in BASIS_SIZES:
            learned, drawn = f"cpsp_{size}", f"nystroem_{size}"
            test = paired_test(STUDY, cells, dataset, learned, drawn)
            if test is not None:
                line = {"dataset": dataset, "n_basis": size, "seeds": test.n}
                line |= _basis_columns(cells[learned, dataset], "measured", "times_linear")
                line |= _basis_columns(cells[drawn, dataset], "nystroem", "nystroem_times_linear")
                line |= test_columns(test) | {"verdict": claim_verdict(test)}
                if kernel := cells.get(("kernel", dataset)):
                    line |= _basis_columns(kernel, "kernel", "kernel_times_linear")
                yield line


def _basis_columns(rows, name, time_name):
    accuracy, spread = mean_and_spread([row["accuracy"] for row in rows])
    time, _ = mean_and_spread([row["times_linear"] for row in rows])
    return {name: accuracy, f"{name}_spread": spread, time_name: time}


def _basis_overview(lines):
    body = []
    for line in lines:
        accuracies = [
            formatted(line.get(name, nan), line.get(f"{name}_spread", nan))
            for name in ("measured", "nystroem", "kernel")
        ]
        gain = f"{line['difference']:+.2f} **{line['verdict']}**"
        times = [
            formatted(line.get(f"{name}times_linear", nan), digits=1)
            for name in ("", "nystroem_", "kernel_")
        ]
        body.append(
            [line["dataset"], line["n_basis"], *accuracies[:2], gain, accuracies[2], *times]
        )
    titles = [TITLES[method] for method in ("cpsp", "nystroem", "kernel")]
    header = ["set", "size", *titles[:2], "CPSP above Nyström", titles[2]]
    return markdown_table([*header, *(f"{title}, × linear" for title in titles)], body)


def regression_lines(cells):
    """Mean squared error, its ratio to the RBF-SVR's with a paired test, and the ratio of times."""
    for dataset in datasets_of("regression", cells):
        reference = cells.get(("svr", dataset), [])
        for method in REGRESSION:
            rows = cells.get((method, dataset))
            line = {"dataset": dataset, "method": method}
            if rows:
                line["measured"], line["measured_spread"] = mean_and_spread(
                    [row["mse"] for row in rows]
                )
                line["seeds"] = len(rows)
                line |= _beside_svr(cells, dataset, method, line["measured"], reference)
                line["us_per_row"] = mean_and_spread([r["predict_us_per_row"] for r in rows])[0]
                line["model_bytes"] = rows[0]["model_bytes"]
            yield line


def _beside_svr(cells, dataset, method, error, reference):
    test = paired_test(STUDY, cells, dataset, method, "svr", column="mse")
    if method == "svr" or test is None:
        return {}
    time = _mean_time(cells[method, dataset]) / _mean_time(reference)
    ratio = error / mean_and_spread([row["mse"] for row in reference])[0]
    word = "level"
    if test.t_p < SIGNIFICANT:
        word = "better" if test.difference < 0 else "worse"
    return {"times_svr_mse": ratio, "times_svr_time": time, **test_columns(test), "verdict": word}


def _regression_overview(lines):
    body = []
    for line in lines:
        if "measured" in line:
            error = formatted(line["measured"], line["measured_spread"], 3)
            ratios = [
                formatted(line.get(name, nan), digits=3)
                for name in ("times_svr_mse", "times_svr_time")
            ]
            word = line.get("verdict", "")
            body.append([line["dataset"], TITLES[line["method"]], error, *ratios, word])
    header = ["set", "method", "MSE", "MSE, × SVR", "time, × SVR", "against SVR"]
    return markdown_table(header, body)


def write(folder=STUDY.results):
    """Write all tables from the rows in ``folder``."""
    folder = Path(folder)
    cells = current_rows(STUDY, folder / "rows.csv")
    lines = list(accuracy_lines(cells, "binary", TABLE1))
    counts = verdict_counts(lines, TITLES)
    summary = table1_overview(lines) + "\n" + counts + not_run(STUDY) + limited_rows(STUDY) + "\n"
    save(folder, "table1", "Table 1: accuracy (%) and prediction time", lines, summary)
    for name, title, task, methods in (
        ("table2", "Table 2: accuracy (%) at LDKL's prediction cost", "binary", TABLE2),
        (
            "multiclass",
            "Several classes: accuracy (%)",
            "multiclass",
            ("linear", "kernel", *TABLE2),
        ),
    ):
        titles = {method: TITLES[method] for method in (*methods, *BOOSTED)}
        lines = list(accuracy_lines(cells, task, titles))
        views = overview(lines, titles, 2), verdict_counts(lines, titles)
        save(folder, name, title, lines, "\n".join([*views, times_overview(lines, titles), ""]))
    lines = list(basis_lines(cells))
    title = "Learned and drawn basis vectors: accuracy (%)"
    save(folder, "basis", title, lines, _basis_overview(lines) + "\n")
    lines = list(regression_lines(cells))
    save(folder, "regression", "Regression", lines, _regression_overview(lines) + "\n")
    regressions = datasets_of("regression", cells)
    classified = {key: rows for key, rows in cells.items() if key[1] not in regressions}
    save(folder, "claims", "Claims, paired over seeds", list(claim_lines(STUDY, classified)))


if __name__ == "__main__":
    sys.exit(write())
