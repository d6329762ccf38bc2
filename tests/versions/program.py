"""Every public class and every export target on small data, with the installed libraries.

``python tests/versions/program.py`` needs nearlinear and its libraries only. It fails at its end if
nearlinear or this file has caused a deprecation warning. The warnings are recorded, not raised:
NumPy 2.2 converts an array of one element to a scalar, unless its warning is an error.
"""

import json
import platform
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from importlib.metadata import version
from pathlib import Path

import duckdb
import matplotlib
import numpy as np
import pandas as pd
from matplotlib import pyplot
from onnxruntime import InferenceSession
from sklearn import ensemble
from sklearn.datasets import dump_svmlight_file
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, SplineTransformer
from sklearn.svm import SVC

TESTS = Path(__file__).parents[1]
sys.path.insert(0, str(TESTS))
matplotlib.use("agg")
from small_estimators import SMALL, SMALL_REGRESSORS  # noqa: E402

import nearlinear  # noqa: E402
from nearlinear import displays, gates, kernels, runtime, streams  # noqa: E402

LIBRARIES = (
    "numpy", "scipy", "scikit-learn", "numba", "pandas", "narwhals", "threadpoolctl", "pyarrow",
    "onnx", "onnxruntime", "matplotlib", "duckdb",
)  # fmt: skip
DEPRECATIONS = (DeprecationWarning, PendingDeprecationWarning, FutureWarning)
# Models that keep training rows, or whose kernels and codes have no SQL.
WITHOUT_EXPORT = {"SVMKNNClassifier"}
WITH_SQL = {
    "LLSVMClassifier", "LLCSAPLClassifier", "LDKLClassifier", "LDKLRegressor",
    "ClusteredSVMClassifier", "LMKLClassifier", "LMKLRegressor", "LocalForestClassifier",
    "LocalForestRegressor",
}  # fmt: skip


def scores_of(model, X, method):
    return np.asarray(getattr(model, method)(X), dtype=np.float64).reshape(len(X), -1)


def assert_close(scores, expected, rounding):
    atol = rounding * np.abs(expected).max()
    np.testing.assert_allclose(np.reshape(scores, expected.shape), expected, rtol=0, atol=atol)


class Exports:
    """Exports models and compares the predictions of every target with those of the model.

    One C program is compiled for each type of predictor. JavaScript models are collected, because
    one Node process evaluates all of them in ``run_javascript``.
    """

    def __init__(self, folder):
        self.folder, self.compiled, self.javascript = folder, set(), []

    def check(self, model, X, *, has_sql=True):
        """X is an array, or a DataFrame with numbers and strings for raw-table models."""
        is_table = isinstance(X, pd.DataFrame)
        rows = X.astype(object).where(X.notna(), None).to_numpy() if is_table else X
        method = "decision_function" if hasattr(model, "classes_") else "predict"
        scores = scores_of(model, X, method)
        assert np.isfinite(scores).all()
        path = self.folder / "model.nlm"
        nearlinear.save(model, path)
        loaded = nearlinear.load(path)
        assert np.array_equal(scores_of(loaded, X, method), scores)
        assert np.array_equal(loaded.predict(X), model.predict(X))
        small = runtime.load(path)
        assert_close(scores_of(small, rows, method), scores, 1e-5)
        assert_close(scores_of(small, rows[:1], method), scores[:1], 1e-5)
        scorer = nearlinear.row_scorer(model)
        assert_close([np.ravel(scorer(row)) for row in rows[:5]], scores[:5], 1e-5)
        self.check_onnx(model, X, scores)
        self.check_c(model, X)
        if has_sql:
            self.check_sql(model, X, scores)
        nearlinear.to_js(model, self.folder / "js")
        self.javascript.append((path.read_bytes(), rows, scores))

    def check_onnx(self, model, X, scores):
        session = InferenceSession(nearlinear.to_onnx(model).SerializeToString())
        (output,) = [o.name for o in session.get_outputs() if o.name in ("scores", "variable")]
        columns = {name: X[name] for name in X} if isinstance(X, pd.DataFrame) else {"X": X}
        inputs = {i.name: onnx_input(columns[i.name], i.type) for i in session.get_inputs()}
        assert_close(session.run([output], inputs)[0], scores, 1e-5)

    def check_c(self, model, X):
        for dtype in ("float32", "int8"):
            written = nearlinear.to_c(model, self.folder / "c", dtype, sample=X)
            last = model[-1] if isinstance(model, Pipeline) else model
            kind = type(last.predictor_).__name__, dtype
            if shutil.which("gcc") is None or kind in self.compiled:
                continue
            self.compiled.add(kind)
            program = self.folder / "c" / "program"
            sources = [str(written.source), str(written.test)]
            subprocess.run(["gcc", "-std=c99", "-o", str(program), *sources, "-lm"], check=True)
            subprocess.run([str(program)], check=True, stdout=subprocess.DEVNULL)

    def check_sql(self, model, X, scores):
        frame = X if isinstance(X, pd.DataFrame) else pd.DataFrame(X, columns=["x0", "x1"])
        with duckdb.connect(config={"threads": 1}) as base:
            base.register("rows", frame)
            columns = base.execute(nearlinear.to_sql(model)).fetchnumpy()
        columns = [v for name, v in columns.items() if name.startswith(("score", "value"))]
        assert_close(np.column_stack(columns), scores, 1e-5)

    def run_javascript(self):
        """The number of models that Node has evaluated."""
        node = shutil.which("node")
        if node is None:
            return 0
        jobs = []
        for data, rows, _ in self.javascript:
            path = self.folder / f"{len(jobs)}.nlm"
            path.write_bytes(data)
            jobs.append({"path": str(path), "rows": rows.tolist(), "asks": ["decisionFunction"]})
        module = Path(nearlinear.__file__).parent / "js" / "nearlinear.js"
        done = subprocess.run(
            [node, str(TESTS / "js" / "runner.mjs"), str(module)],
            input=json.dumps({"jobs": jobs}), capture_output=True, text=True, check=True,
        )  # fmt: skip
        for answer, (_, _, scores) in zip(json.loads(done.stdout), self.javascript, strict=True):
            assert_close(answer["decisionFunction"], scores, 1e-5)
        return len(jobs)


def onnx_input(values, kind):
    if kind == "tensor(string)":
        return values.fillna("").to_numpy(str)[:, None]
    dtype = np.float32 if kind == "tensor(float)" else np.float64
    return np.asarray(values, dtype=dtype).reshape(len(values), -1)


def make_data(n_rows=120, seed=1):
    """Two features; the target is their product, which no linear model can predict."""
    X = np.random.default_rng(seed).standard_normal((n_rows, 2))
    return X, X[:, 0] * X[:, 1]


def make_table(n_rows=240, seed=2):
    """A table with numbers, missing values, dates and strings, and a target in [0, 4]."""
    rng = np.random.default_rng(seed)
    color = rng.choice(["red", "green", "blue"], n_rows)
    frame = pd.DataFrame(
        {"a": rng.uniform(-1, 1, n_rows), "b": rng.uniform(-1, 1, n_rows), "color": color}
    )
    target = 2 * np.abs(frame["a"].to_numpy()) + 2 * (color == "red")
    frame.loc[3, "a"], frame.loc[4, "color"] = np.nan, None
    return frame, target


def check_estimators(exports):
    X, values = make_data()
    labels = np.where(values > 0, "same", "other")
    classes = np.digitize(values, [-0.4, 0.4])
    for name, settings in (SMALL | SMALL_REGRESSORS).items():
        is_regressor = name in SMALL_REGRESSORS
        estimator = getattr(nearlinear, name)
        model = estimator(**settings).fit(X, values if is_regressor else labels)
        assert model.score(X, values if is_regressor else labels) > (0.3 if is_regressor else 0.75)
        if name in WITHOUT_EXPORT:
            continue
        assert np.isfinite(model.explain(X[:5]).scores).all()
        exports.check(model, X, has_sql=name in WITH_SQL)
        if name in ("LLSVMClassifier", "LDKLClassifier", "LMKLClassifier", "SimpleMKLClassifier"):
            model = estimator(**settings).fit(X, classes)
            assert model.score(X, classes) > 0.5
            exports.check(model, X, has_sql=name in WITH_SQL)


def check_single_precision(exports):
    X, values = make_data()
    X = X.astype(np.float32)
    for model in (
        nearlinear.LDKLRegressor(2, max_iter=40, random_state=0).fit(X, values),
        nearlinear.LLSVMClassifier(8, 3, random_state=0).fit(X, values > 0),
    ):
        assert model.predictor_.dtype == np.float32
        exports.check(model, X)


def check_model_selection(exports):
    frame, target = make_table()
    for edges, other in (([2.0], "boosted trees"), ([1.0, 3.0], "anchors")):
        y, families = np.digitize(target, edges), ["linear", "hinge units", other]
        model = nearlinear.NearLinearClassifier(families=families, random_state=0).fit(frame, y)
        assert model.score(frame, y) > 0.8
        assert np.isfinite(model.predict_proba(frame)).all()
        exports.check(model, frame)
        exports.check(model.select(max_times_linear=3.0), frame)
    families = ["linear", "hinge units", "boosted trees"]
    model = nearlinear.NearLinearRegressor(families=families, random_state=0).fit(frame, target)
    assert model.score(frame, target) > 0.7
    assert np.isfinite(model.predict_interval(frame)).all()
    exports.check(model, frame)
    X, values = make_data()
    student = nearlinear.distill(
        SVC().fit(X, values > 0), X, values > 0, families=["anchors"], random_state=0
    )
    assert student.score(X, values > 0) > 0.75
    exports.check(student, X)


def check_forests(exports):
    X, values = make_data()
    forests = [
        ensemble.RandomForestRegressor(5, max_depth=4, random_state=0).fit(X, values),
        ensemble.HistGradientBoostingRegressor(max_iter=8).fit(X, values),
    ]
    for y in (values > 0, np.digitize(values, [-0.4, 0.4])):
        forests += [
            ensemble.RandomForestClassifier(5, max_depth=4, random_state=0).fit(X, y),
            ensemble.ExtraTreesClassifier(5, max_depth=4, random_state=0).fit(X, y),
            ensemble.GradientBoostingClassifier(n_estimators=8).fit(X, y),
            ensemble.HistGradientBoostingClassifier(max_iter=8).fit(X, y),
        ]
    for forest in forests:
        model = nearlinear.from_forest(forest)
        np.testing.assert_allclose(model.predict(X[:40]), forest.predict(X[:40]), rtol=1e-6)
        exports.check(model, X)


def check_combinations(exports):
    X, values = make_data(800)
    y = values > 0
    model = make_pipeline(SplineTransformer(degree=1), nearlinear.LDKLClassifier(2, random_state=0))
    assert model.fit(X, y).score(X, y) > 0.8
    exports.check(model, X[:100])
    frame, target = make_table()
    for y in (target > 2, np.digitize(target, [1.0, 3.0])):
        tree = nearlinear.LDKLClassifier(3, random_state=0)
        model = make_pipeline(nearlinear.TableEncoder(), tree).fit(frame, y)
        assert model.score(frame, y) > 0.8
        exports.check(model, frame)


def check_streams(exports):
    X, values = make_data(800)
    y, folder = np.where(values > 0, 1, 0), exports.folder
    frame = pd.DataFrame(X, columns=["x0", "x1"]).assign(y=y)
    frame.to_parquet(folder / "rows.parquet")
    dump_svmlight_file(X, y, str(folder / "rows.svmlight"), zero_based=False)
    sources = (
        streams.from_arrays(X, y, block_rows=200),
        streams.from_tables(folder / "rows.parquet", "y", block_rows=200),
        streams.from_svmlight(folder / "rows.svmlight", block_rows=200),
    )
    for source in sources:
        model = nearlinear.LLCSAPLClassifier(8, 3, random_state=0)
        model = make_pipeline(MaxAbsScaler(), model)
        assert streams.fit_pipeline(model, source).score(X, y) > 0.7
    raw = streams.from_raw_tables(folder / "rows.parquet", "y", block_rows=200)
    search = nearlinear.NearLinearClassifier(families=["linear", "anchors"], random_state=0)
    assert search.fit(raw).score(frame[["x0", "x1"]], y) > 0.7


def check_kernels(exports):
    X, values = make_data()
    y = values > 0
    linear, gaussian = kernels.Linear(), kernels.Gaussian(0.5)
    tree = nearlinear.LDKLClassifier(2, max_iter=40, random_state=0).fit(X, y)
    choices = (
        kernels.WeightedSum((linear, gaussian), (0.3, 0.7)),
        kernels.UnitDiagonal(kernels.Scaled(kernels.Polynomial(2), 2.0)),
        kernels.OnColumns(gaussian, (0, 1)),
        kernels.Product((linear, gaussian)),
        kernels.Custom(lambda A, B: (A @ B.T) ** 2),
        kernels.Family((gaussian, kernels.Polynomial(2)), "both"),
        kernels.LDKLKernel.of(tree),
        kernels.bank(widths=2, degrees=(2,)),
    )
    for kernel in choices:
        model = nearlinear.UniformMKLClassifier([kernel], C=1.0).fit(X, y)
        assert np.isfinite(model.decision_function(X)).all()
    gate = gates.Softmax(np.ones((2, 2)), np.zeros(2))
    gated = SVC(kernel=kernels.GatedSum((linear, gaussian), gate)).fit(X, y)
    assert gated.score(X, y) > 0.7
    conformal = SVC(kernel=kernels.Conformal((0.0, 0.0), 1.0)).fit(X, y)
    nearlinear.MLLKMClassifier(bandwidths=kernels.Absolute([0.1, 1.0]), random_state=0).fit(X, y)
    assert np.isfinite(conformal.decision_function(X)).all()
    start = np.zeros((2, 1)), np.zeros(2)
    viewing = gates.Viewing(gates.Softmax(*start), gates.Columns((0,)))
    whole = np.zeros((2, 2)), np.zeros(2)
    for gate in (viewing, gates.Sigmoid(*whole), gates.GaussianGate(*whole, scale=1.0)):
        model = nearlinear.LMKLClassifier(gate=gate, random_state=0).fit(X, y)
        assert model.score(X, y) > 0.6


def check_displays(exports):
    X, values = make_data()
    y = values > 0
    tree = nearlinear.LDKLClassifier(2, max_iter=40, random_state=0).fit(X, y)
    machine = nearlinear.SimpleMKLClassifier(C=1.0).fit(X, y)
    gated = nearlinear.LMKLClassifier(random_state=0).fit(X, y)
    displays.TreeDiagramDisplay.from_estimator(tree, X, y)
    displays.ExplanationDisplay.from_estimator(tree, X[0])
    displays.KernelWeightsDisplay.from_estimator(machine)
    displays.GateDisplay.from_estimator(gated, X, y)
    displays.CostFrontDisplay.from_estimators({"tree": tree, "gated": gated}, X, y)
    pyplot.close("all")


def check_configuration(exports):
    nearlinear.set_config(max_memory="2GB")
    with nearlinear.config_context(max_memory=1e5):
        assert nearlinear.get_config() == {"max_memory": 1e5}
    assert nearlinear.get_config() == {"max_memory": 2e9}
    nearlinear.set_config(max_memory=None)


def record_deprecations():
    """A list of the deprecation warnings that nearlinear and this file cause from now on."""
    own = str(Path(nearlinear.__file__).parent), __file__
    deprecations, show = [], warnings.showwarning

    def record(message, category, filename, lineno, *rest):
        if issubclass(category, DEPRECATIONS) and filename.startswith(own):
            deprecations.append(f"{filename}:{lineno}: {category.__name__}: {message}")
        else:
            show(message, category, filename, lineno, *rest)

    warnings.showwarning = record
    for category in DEPRECATIONS:
        warnings.filterwarnings("always", category=category, module=r"nearlinear(\..*)?$|__main__$")
    return deprecations


def main():
    deprecations = record_deprecations()
    print("Python", platform.python_version(), *(f"{n} {version(n)}" for n in LIBRARIES), sep=", ")
    parts = (
        check_estimators, check_single_precision, check_model_selection, check_forests,
        check_combinations, check_streams, check_kernels, check_displays,
        check_configuration,
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        exports = Exports(Path(folder))
        for part in parts:
            start = time.perf_counter(), time.process_time()
            part(exports)
            wall, cpu = time.perf_counter() - start[0], time.process_time() - start[1]
            print(f"{part.__name__}: {wall:.1f} s, {cpu:.1f} s of processor time", flush=True)
        print(f"JavaScript: {exports.run_javascript()} models; C: {len(exports.compiled)} programs")
    if deprecations:
        sys.exit("\n".join(["deprecation warnings:", *sorted(set(deprecations))]))


if __name__ == "__main__":
    main()
