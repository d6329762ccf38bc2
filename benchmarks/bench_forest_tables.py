"""Tables that nobody has tuned on, every model with its defaults: ours beside boosted trees.

Three folds each; one line for each table, fold and model goes to results/forest_tables_rows.jsonl
at once, and what is there is not measured again. Ranks are means over tables of the rank of a
model's score.

    python -m benchmarks forest_tables
"""

import importlib.util
import json
import time

import numpy as np
from scipy.stats import rankdata
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, log_loss, r2_score
from sklearn.svm import SVC, SVR

import nearlinear
from benchmarks.default_tables import (
    N_FOLDS,
    UNSEEN_CLASSIFICATION,
    UNSEEN_REGRESSION,
    fold_of,
    missing_packages,
)
from benchmarks.report import FOLDER, Result

ROWS = "forest_tables_rows.jsonl"
SMOKE = ("bupa", "carseats")


def models():
    """{name: (classifier, regressor)} of what is installed."""
    found = {
        "linear": (LogisticRegression, Ridge),
        "SVC, SVR": (SVC, SVR),
        "RandomForest": (RandomForestClassifier, RandomForestRegressor),
        "HistGradientBoosting": (HistGradientBoostingClassifier, HistGradientBoostingRegressor),
        "LocalForest": (nearlinear.LocalForestClassifier, nearlinear.LocalForestRegressor),
    }
    if importlib.util.find_spec("lightgbm"):
        from lightgbm import LGBMClassifier, LGBMRegressor

        found["LightGBM"] = LGBMClassifier, LGBMRegressor
    if importlib.util.find_spec("catboost"):
        from catboost import CatBoostClassifier, CatBoostRegressor

        found["CatBoost"] = CatBoostClassifier, CatBoostRegressor
    return found


_QUIET = {
    "LightGBM": {"verbose": -1, "n_jobs": 1},
    "CatBoost": {"verbose": 0, "thread_count": 1, "allow_writing_files": False},
}


def measure(name, makers, table, fold):
    X, y, X_test, y_test = fold_of(table, fold)
    maker, settings = makers[table in UNSEEN_REGRESSION], _QUIET.get(name, {})
    if "random_state" in maker().get_params() or name == "CatBoost":
        settings = {**settings, "random_state": 0}
    began = time.process_time()
    model = maker(**settings).fit(X, y)
    seconds = time.process_time() - began
    row = {"table": table, "fold": fold, "model": name, "seconds": round(seconds, 2)}
    answers = np.ravel(model.predict(X_test))
    if table in UNSEEN_REGRESSION:
        return {**row, "score": r2_score(y_test, answers)}
    row["score"] = accuracy_score(y_test, answers)
    if hasattr(model, "predict_proba"):
        row["log_loss"] = log_loss(y_test, model.predict_proba(X_test), labels=np.unique(y))
    return row


def run(smoke=False, folder=FOLDER):
    if missing_packages():
        return [Result("forest_tables", "left out", 0, f"install {', '.join(missing_packages())}")]
    path, known = folder / ROWS, {}
    if path.exists():
        for line in path.read_text().splitlines():
            row = json.loads(line)
            known[row["table"], row["fold"], row["model"]] = row
    tables = SMOKE if smoke else (*UNSEEN_CLASSIFICATION, *UNSEEN_REGRESSION)
    for table in tables:
        for fold in range(1 if smoke else N_FOLDS):
            for name, makers in models().items():
                if (table, fold, name) in known:
                    continue
                row = known[table, fold, name] = measure(name, makers, table, fold)
                with path.open("a") as file:
                    file.write(json.dumps(row) + "\n")
    return summary(list(known.values()), tables)


def summary(rows, tables):
    names = sorted({row["model"] for row in rows})

    def means(key, sign):
        values = [[
            np.mean([row[key] for row in rows if row["table"] == table and row["model"] == name])
            for name in names] for table in tables]  # fmt: skip
        return np.array([rankdata(-sign * np.array(line)) for line in values]).mean(axis=0)

    ranks = means("score", 1.0)
    found = [
        Result("forest_tables", name, rank, "mean rank")
        for name, rank in zip(names, ranks, strict=True)
    ]
    for name in names:
        total = sum(row["seconds"] for row in rows if row["model"] == name)
        found.append(Result("forest_tables", name, total, "s of all fits"))
    return found
