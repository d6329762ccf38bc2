"""What users do, in the process of ``windows.simulate()``; test_portability.py runs it by parts."""

import os
import sys
import threading
import warnings
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas
from sklearn.ensemble import RandomForestClassifier
from windows import simulate

# Their own code is not simulated, and some of it runs when they are imported.
for name in ("duckdb", "lightgbm", "matplotlib.pyplot", "numba", "onnx", "onnxruntime",
             "pyarrow.dataset", "pyarrow.parquet", "scipy.optimize", "scipy.sparse.linalg",
             "xgboost"):  # fmt: skip
    with suppress(ImportError):
        import_module(name)
simulate()

from small_estimators import SMALL, SMALL_REGRESSORS  # noqa: E402

import nearlinear  # noqa: E402
from nearlinear import runtime  # noqa: E402
from nearlinear.cli import main  # noqa: E402

TOWNS = np.array(["Zürich", "東京", "→ Köln"])
QUICK = {"families": ["linear", "piecewise linear"], "random_state": 0}


def raw_table(n_rows=90):
    rng = np.random.default_rng(0)
    width, town = rng.normal(5.0, 3.0, n_rows), rng.choice(TOWNS, n_rows)
    score = width + 2.0 * (town == "東京") + rng.normal(0.0, 0.5, n_rows)
    width[::9] = np.nan
    frame = pandas.DataFrame({"Größe": width.round(3), "town": town})
    return frame, np.where(score > 5.5, "Ω", "né"), score


def run_main_job(folder):
    X, y, values = raw_table()
    for model, target in (
        (nearlinear.NearLinearClassifier(**QUICK), y),
        (nearlinear.NearLinearRegressor(**QUICK), values),
    ):
        model.fit(X, target)
        path = folder / "model.nlm"
        nearlinear.save(model, path)
        loaded = nearlinear.load(path)
        nearlinear.save(loaded, path)
        chosen = model.select(max_times_linear=100.0)
        for one in (nearlinear.load(path), runtime.load(path), chosen):
            assert one.predict(X).shape == target.shape
        np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
        assert (model.results_["us_per_row"] > 0.0).all()
        nearlinear.to_c(model, folder)
        nearlinear.to_js(model, folder)
        nearlinear.to_onnx(model, folder / "model.onnx")
        nearlinear.to_sql(model, path=folder / "model.sql")
        model.explain(X[:2])
    for name in ("model.c", "model.h", "nearlinear.js", "index.html", "model.sql"):
        text = (folder / name).read_bytes()
        assert b"\r" not in text, name
        text.decode("utf-8")


def run_estimators(folder):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 2))
    values = X[:, 0] * X[:, 1]
    labels = np.where(values > 0, "same", "other")
    settings = {**SMALL, **SMALL_REGRESSORS}
    known = {name for name in nearlinear.__all__ if name.endswith(("Classifier", "Regressor"))}
    assert known == {*settings, "NearLinearClassifier", "NearLinearRegressor"}
    for name, few in settings.items():
        model = getattr(nearlinear, name)(**few)
        model.fit(X, values if name in SMALL_REGRESSORS else labels)
        check_saved(name, model, X, folder)
    forest = RandomForestClassifier(3, random_state=0).fit(X, labels)
    check_saved("from_forest", nearlinear.from_forest(forest), X, folder)
    check_saved("distill", nearlinear.distill(forest, X, labels, **QUICK), X, folder)
    table, y, _ = raw_table()
    assert nearlinear.TableEncoder().fit_transform(table, y).shape[0] == len(table)
    blocks = nearlinear.LDKLClassifier(2, max_iter=2, random_state=0)
    blocks.fit(nearlinear.streams.from_arrays(X, (values > 0).astype(int), block_rows=20))
    assert blocks.predict(X).shape == values.shape


def check_saved(name, model, X, folder):
    expected = model.predict(X)
    if name == "SVMKNNClassifier":  # it has no model that could be saved
        return
    path = folder / "model.nlm"
    nearlinear.save(model, path)
    np.testing.assert_array_equal(nearlinear.load(path).predict(X), expected)
    predicted = runtime.load(path).predict(X)
    if expected.dtype.kind == "f":
        np.testing.assert_allclose(predicted, expected, atol=1e-9)
    else:
        np.testing.assert_array_equal(predicted, expected)


def run_commands(folder):
    X, y, _ = raw_table()
    os.chdir(folder)
    os.environ["XDG_CONFIG_HOME"] = str(folder)
    X.assign(kind=y).to_csv("train.csv", index=False, lineterminator="\n")
    X.assign(kind=y).to_parquet("train.parquet", row_group_size=30)
    families = ["--families", "linear", "--families", "piecewise linear"]
    for words in (
        ["fit", "train.csv", "--target", "kind", "--out", "model.nlm", *families],
        ["fit", "train.parquet", "--target", "kind", "--out", "blocks.nlm", *families,
         "--max-memory", "100KB"],
        ["fit", "train.csv", "--target", "kind", "--out", "reported.nlm", *families,
         "--report", "page.html"],
        ["predict", "model.nlm", "train.csv"],
        ["predict", "model.nlm", "train.csv", "--out", "labels.csv"],
        ["score", "model.nlm", "train.csv", "--target", "kind"],
        ["inspect", "model.nlm"],
        ["inspect", "model.nlm", "--json"],
        *(["export", "model.nlm", f"made-{to}", "--to", to] for to in ("c", "onnx", "js", "sql")),
        ["compare", "train.csv", "--target", "kind", *families],
        ["methods"],
    ):  # fmt: skip
        assert main(words) == 0, words
    assert main(["fit", "none.csv", "--target", "kind", "--out", "none.nlm"]) == 2
    for path in Path(".").rglob("*.*"):
        if path.suffix in (".csv", ".c", ".h", ".js", ".sql", ".html"):
            assert b"\r" not in path.read_bytes(), path


def run_files(folder):
    check_file_open_elsewhere(folder / "model.nlm")
    check_two_writers(folder / "model.nlm")
    check_part_of_killed_writer(folder)


def small_model():
    return nearlinear.LDKLClassifier(1, max_iter=2, random_state=0).fit([[0.0], [1.0]], [0, 1])


def check_file_open_elsewhere(path):
    """The file stays, and the error says why; a file that is open for a moment is replaced."""
    model = small_model()
    nearlinear.save(model, path)
    before = path.read_bytes()
    with path.open("rb"):
        try:
            nearlinear.save(model, path)
        except ValueError as error:
            sentence = str(error)
    assert "open in another program" in sentence, sentence
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]
    reader = path.open("rb")
    threading.Timer(0.1, reader.close).start()
    nearlinear.save(model, path)


def check_two_writers(path):
    """A part that is complete and closed is not removed by another writer in the folder."""
    model, replace = small_model(), os.replace

    def replace_after_other_writer(*paths):
        os.replace = replace
        nearlinear.save(model, path.with_name("other.nlm"))
        replace(*paths)

    os.replace = replace_after_other_writer
    nearlinear.save(model, path)
    assert sorted(os.listdir(path.parent)) == [path.name, "other.nlm"]


def check_part_of_killed_writer(folder):
    """It is removed once it is so old that nobody writes to it."""
    part = folder / f".nearlinear-{32 * '0'}.part"
    part.write_bytes(b"half")
    nearlinear.save(small_model(), folder / "model.nlm")
    assert part.exists()
    os.utime(part, (0, 0))
    nearlinear.save(small_model(), folder / "model.nlm")
    assert not part.exists()


PARTS = {
    "main job": run_main_job,
    "estimators": run_estimators,
    "commands": run_commands,
    "files": run_files,
}

if __name__ == "__main__":
    warnings.simplefilter("ignore", UserWarning)
    part, folder = sys.argv[1:]
    PARTS[part](Path(folder))
