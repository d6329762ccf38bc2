"""Thirty raw tables that nobody has tuned on: the front door beside others, all with defaults.

Ours gets the raw table, all others what ``TableEncoder`` makes of it. Splits of two thirds and one
third, by number. One line for each table, split and model goes to results/tables_rows.jsonl at
once, and what is there is not measured again. A rank is that of a model's score among all (1 is the
best), averaged over tables; scores are accuracy or R², and by loss log loss or squared error. A
table is lost to the linear model if its mean difference is below minus two standard errors, which
are corrected for splits that share rows (Nadeau and Bengio).

    python -m benchmarks tables
    python -m benchmarks tables --tables Chile wdbc --seeds 0 1 2 --only NearLinear linear
"""

import importlib.util
import json
import time
import warnings

import numpy as np
from scipy.stats import rankdata
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, log_loss, mean_squared_error, r2_score
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.svm import SVC, SVR

import nearlinear
from benchmarks.default_tables import missing_packages
from benchmarks.raw_tables import REGRESSION, TABLES, TEST_SHARE, split_of
from benchmarks.report import FOLDER, Result

ROWS, OURS = "tables_rows.jsonl", "NearLinear"
SPLITS = (0, 1, 2)
SMOKE = ("Salaries", "Chile")


def models():
    """{name: (classifier, regressor)} of what is installed."""
    found = {
        OURS: (nearlinear.NearLinearClassifier, nearlinear.NearLinearRegressor),
        "linear": (LogisticRegression, Ridge),
        "SVC": (SVC, SVR),
        "MLP": (MLPClassifier, MLPRegressor),
        "RandomForest": (RandomForestClassifier, RandomForestRegressor),
        "HistGradientBoosting": (HistGradientBoostingClassifier, HistGradientBoostingRegressor),
    }
    if importlib.util.find_spec("lightgbm"):
        from lightgbm import LGBMClassifier, LGBMRegressor

        found["LightGBM"] = LGBMClassifier, LGBMRegressor
    if importlib.util.find_spec("catboost"):
        from catboost import CatBoostClassifier, CatBoostRegressor

        found["CatBoost"] = CatBoostClassifier, CatBoostRegressor
    return found


_QUIET = {
    "LightGBM": {"verbose": -1, "n_jobs": 1, "random_state": 0},
    "CatBoost": {
        "verbose": 0, "thread_count": 1, "allow_writing_files": False, "random_state": 0
    },
}  # fmt: skip


def measure(name, makers, table, split):
    """One row: scores of the test part, CPU and wall seconds of the fit."""
    is_regression = table in REGRESSION
    X, y, X_test, y_test = split_of(table, split)
    if name != OURS:
        kind = "values" if is_regression else "classes"
        encoder = nearlinear.TableEncoder(target_type=kind)
        X, X_test = encoder.fit_transform(X, y), encoder.transform(X_test)
    maker, settings = makers[is_regression], _QUIET.get(name)
    if settings is None:
        settings = {"random_state": 0} if "random_state" in maker().get_params() else {}
    # the values of some tables are in thousands, which networks and machines cannot take
    center, unit = (y.mean(), y.std()) if is_regression else (0.0, 1.0)
    target = (y - center) / unit if is_regression else y
    began, wall = time.process_time(), time.perf_counter()
    model = maker(**settings).fit(X, target)
    row = {
        "table": table, "split": split, "model": name,
        "seconds": round(time.process_time() - began, 2),
        "wall_seconds": round(time.perf_counter() - wall, 2), "n_train": len(y),
    }  # fmt: skip
    answers = np.ravel(model.predict(X_test))
    if name == OURS:
        row["chosen"] = next(one["model"] for one in model.record_ if one["is_chosen"])
    if is_regression:
        truth = (y_test - center) / unit
        return row | {"score": r2_score(truth, answers), "loss": mean_squared_error(truth, answers)}
    row["score"] = accuracy_score(y_test, answers)
    if hasattr(model, "predict_proba"):
        said = np.clip(model.predict_proba(X_test), 1e-6, 1.0)
        row["loss"] = log_loss(y_test, said / said.sum(axis=1, keepdims=True), labels=np.unique(y))
    return row


def run(smoke=False, folder=FOLDER, tables=None, only=None, splits=None):
    if missing_packages():
        return [Result("tables", "left out", 0, f"install {', '.join(missing_packages())}")]
    path, known = folder / ROWS, {}
    if path.exists():
        for line in path.read_text("utf-8").splitlines():
            row = json.loads(line)
            known[row["table"], row["split"], row["model"]] = row
    asked = tables or (SMOKE if smoke else tuple(TABLES))
    for split in splits or ((0,) if smoke else SPLITS):
        for table in asked:
            for name, makers in models().items():
                if (table, split, name) in known or (only and name not in only):
                    continue
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    row = known[table, split, name] = measure(name, makers, table, split)
                with path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
                told = f"{row['score']:.4f} in {row['wall_seconds']} s"
                print(f"  {table} {split} {name}: {told} {row.get('chosen', '')}", flush=True)
    return summary(list(known.values()))


def summary(rows):
    """Ranks on the tables that all models have seen, tables lost to the linear model, seconds."""
    names = sorted({row["model"] for row in rows})
    cells = {(row["table"], row["split"], row["model"]): row for row in rows}
    whole = {
        (table, split) for table, split, _ in cells
        if all((table, split, name) in cells for name in names)
    }  # fmt: skip
    found = [Result("tables", "tables", len({table for table, _ in whole}), "seen by all models")]
    for key, sign, unit in (("score", 1.0, "mean rank"), ("loss", -1.0, "mean rank by loss")):
        able = [n for n in names if all(key in cells[*place, n] for place in whole)]
        ranks = _ranks(cells, whole, able, key, sign)
        found += [Result("tables", n, r, unit) for n, r in zip(able, ranks, strict=True)]
    both = {
        (t, s) for t, s, name in cells
        if name == OURS and (t, s, "linear") in cells
    }  # fmt: skip
    lost = [table for table in sorted({t for t, _ in both}) if _is_lost(cells, both, table)]
    found.append(Result("tables", "below linear", len(lost), "tables", 0, note=", ".join(lost)))
    ours = [row["seconds"] for row in rows if row["model"] == OURS]
    found.append(Result("tables", "longest search", max(ours, default=0.0), "CPU s", 60.0))
    for name in names:
        total = sum(cells[*place, name]["seconds"] for place in whole)
        found.append(Result("tables", name, total, "CPU s of all fits"))
    return found


def _ranks(cells, whole, names, key, sign):
    tables = sorted({table for table, _ in whole})
    lines = [
        [
            # equal scores are equal in whatever order splits are added
            round(np.mean([cells[t, s, name][key] for t, s in sorted(whole) if t == table]), 9)
            for name in names
        ]
        for table in tables
    ]
    if not lines:
        return [np.nan] * len(names)
    return np.mean([rankdata(-sign * np.array(line)) for line in lines], axis=0)


def _is_lost(cells, places, table):
    splits = [split for t, split in places if t == table]
    differ = np.array([
        cells[table, s, OURS]["score"] - cells[table, s, "linear"]["score"] for s in splits
    ])  # fmt: skip
    if len(differ) < 2:
        return False
    error = np.sqrt(differ.var(ddof=1) * (1 / len(differ) + TEST_SHARE / (1 - TEST_SHARE)))
    return differ.mean() < -2.0 * error
