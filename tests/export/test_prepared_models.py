"""Pipelines go everywhere: file, NumPy runtime, single rows, C and ONNX."""

import json
import tracemalloc

import numpy as np
import onnxruntime
import pytest
from export.c.test_c_source import compiled, needs_gcc, runs, scores_in_c
from grids import in_one_test
from numpy.testing import assert_allclose, assert_array_equal
from preparation.pipelines import ALL_STEPS, STEPS, TEXT_STEPS, table
from runtime import plain_reader
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, RandomizedSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, QuantileTransformer, StandardScaler

import nearlinear
from nearlinear import LLSVMClassifier, MLLKMClassifier, load, runtime, save, to_c, to_onnx
from nearlinear.export.onnx.builder import OnnxExportError
from nearlinear.runtime import ModelFileError
from nearlinear.runtime.container import from_bytes, to_bytes
from nearlinear.runtime.preparation_rules import FIELDS

MODEL = LLSVMClassifier(n_anchors=3, n_neighbors=2, random_state=0)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.nlm"


def fitted(name, model=MODEL, seed=0):
    """A pipeline, and rows that it has not seen."""
    columns, steps = ALL_STEPS[name]
    (X, y), (other, _) = table(seed=seed), table(seed=seed + 1)
    return make_pipeline(clone(steps), clone(model)).fit(X[columns], y), other[columns]


@pytest.mark.parametrize("name", ALL_STEPS)
def test_a_pipeline_comes_back_to_the_bit(name, path):
    model, rows = fitted(name)
    save(model, path)
    found = load(path)
    assert repr(found) == repr(model) or name in TEXT_STEPS  # selectors became what they chose
    assert_array_equal(found.decision_function(rows), model.decision_function(rows))
    assert_array_equal(found[:-1].get_feature_names_out(), model[:-1].get_feature_names_out())
    first = from_bytes(path.read_bytes())[0]["preparation"]
    save(found, path)
    assert from_bytes(path.read_bytes())[0]["preparation"] == first


@in_one_test("name", ALL_STEPS)
def test_numpy_alone_scores_the_rows_of_a_pipeline(name, path):
    model, rows = fitted(name)
    save(model, path)
    found, wanted = runtime.load(path), model.decision_function(rows)
    assert_allclose(found.decision_function(rows), wanted, rtol=1e-9, atol=1e-9)
    assert_array_equal(found.predict(rows.to_numpy()), model.predict(rows))
    plain = plain_reader.read(path.read_bytes())
    for row, score in list(zip(rows.to_numpy().tolist(), wanted))[:20]:
        assert_allclose(plain_reader.scores(plain, row), score, rtol=1e-9, atol=1e-9)


@needs_gcc
@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_a_local_machine_on_white_components_goes_everywhere(dtype, path, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 3)) @ rng.standard_normal((3, 5)) + 4.0
    steps = (StandardScaler(), PCA(3, whiten=True))
    model = make_pipeline(*steps, MLLKMClassifier(n_anchors=20, random_state=0))
    model.fit(X, X[:, 0] * X[:, 1] > 16.0)
    scores = model.decision_function(X)
    near = {"rtol": 1e-9, "atol": 1e-9}
    save(model, path)
    assert_array_equal(load(path).decision_function(X), scores)
    assert_allclose(runtime.load(path).decision_function(X), scores, **near)
    scorer = model[-1].compile(model[:-1])
    assert_allclose([scorer(x) for x in X], scores, **near)
    found = model[-1].explain(X, preparation=model[:-1])
    assert found.coefficients.shape == (80, 1, 5)
    assert_allclose((found.coefficients[:, 0] * X).sum(axis=1) + found.intercepts[:, 0], scores)
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    assert_allclose(session.run(["scores"], {"X": X})[0][:, 0], scores, **near)
    written = to_c(model, tmp_path / dtype, dtype, sample=X)
    assert runs(written, tmp_path / dtype) == 0


def test_names_of_columns_come_back(path):
    model, rows = fitted("standard")
    save(model, path)
    assert_array_equal(load(path).feature_names_in_, model.feature_names_in_)
    for bad in (rows[["code", "height"]], rows.rename(columns={"code": "coda"})):
        with pytest.raises(ValueError, match="feature names should match"):
            load(path).predict(bad)
    assert runtime.load(path).feature_names == list(rows)
    save(model[-1], path)  # which was fitted to rows without names
    assert runtime.load(path).feature_names is None


def test_names_between_the_steps_come_back(path):
    columns, steps = STEPS["columns"]
    X, y = table()
    steps = clone(steps).set_output(transform="pandas").set_params(codes__sparse_output=False)
    model = Pipeline([("prepare", steps), ("svm", clone(MODEL))]).fit(X[columns], y)
    save(model, path)
    found = load(path)
    assert list(found.named_steps) == ["prepare", "svm"]
    assert_array_equal(found[-1].feature_names_in_, model[-1].feature_names_in_)
    assert_array_equal(found.predict(X[columns]), model.predict(X[columns]))


SEARCHES = {
    "grid": lambda model: GridSearchCV(model, {"llsvmclassifier__C": [0.1, 1.0]}, cv=2),
    "random": lambda model: RandomizedSearchCV(
        model, {"llsvmclassifier__C": [0.1, 1.0]}, n_iter=2, cv=2
    ),
    "halving": lambda model: HalvingGridSearchCV(model, {"llsvmclassifier__C": [0.1, 1.0]}, cv=2),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_saves_its_best(name, path):
    columns, steps = STEPS["columns"]
    X, y = table()
    search = SEARCHES[name](make_pipeline(steps, MODEL)).fit(X[columns], y)
    save(search, path)
    assert_array_equal(load(path).predict(X[columns]), search.predict(X[columns]))
    assert search.best_params_["llsvmclassifier__C"] == load(path)[-1].C


def test_a_search_may_stand_at_the_end(path):
    X, y = table()
    X = X[["height", "code"]]
    search = GridSearchCV(MODEL, {"C": [0.1, 1.0]}, cv=2)
    model = make_pipeline(MinMaxScaler(), search).fit(X, y)
    save(model, path)
    assert_array_equal(load(path).predict(X), model.predict(X))


# --- files that lie -----------------------------------------------------------------------------


def damaged(path, change):
    """The file's bytes with another header."""

    header, arrays = from_bytes(path.read_bytes())
    arrays = [array.copy() for array in arrays]
    change(header["preparation"], arrays)
    return to_bytes(header, arrays)


def of(array):
    """An array of a table, to be changed."""
    return lambda p, a: a[p[array]["number"]]


def changed(array, place, value):
    return lambda p, a: of(array)(p, a).__setitem__(place, value)


def _swapped(p, a):
    knots = a[next(curve for curve in p["curves"] if curve is not None and curve[0])[0]["number"]]
    knots[:] = knots[::-1].copy()


LIES = {
    "a step of an unknown class": lambda p, a: p["steps"][0].update(kind="PCA"),
    "a method as attribute": lambda p, a: p["steps"][0]["state"].update(transform=1),
    "no steps": lambda p, a: p.update(steps=[]),
    "no table": lambda p, a: p.pop("fold"),
    "a source that is none": changed("source", 0, 99),
    "another shift": changed("shift", 0, 1e6),
    "a scale of zero": changed("scale", 0, 0.0),
    "names of other columns": lambda p, a: p.update(names=["a"]),
    "no column": lambda p, a: p["readings"][0].__setitem__(0, 99),
    "categories of two kinds": lambda p, a: p["readings"][0][1].append("a"),
    "a category twice": lambda p, a: p["readings"][0][1].append(p["readings"][0][1][0]),
    "an unknown way with the unknown": lambda p, a: p["readings"][0].__setitem__(2, "any"),
    "a date of an unknown unit": lambda p, a: p["readings"][0].__setitem__(1, "eons"),
    "more categories than a curve has": lambda p, a: p["readings"][0][1].append(1e9),
    "no readings": lambda p, a: p.update(readings=None),
    "curves of other columns": lambda p, a: p["curves"].pop(),
    "a curve without knots of a number": lambda p, a: p["curves"][-1].__setitem__(0, None),
    "knots in no order": _swapped,
    "no infinite equals": changed("equals", 0, np.inf),
}


@in_one_test("name", LIES)
def test_a_preparation_that_lies_is_refused(name, path):
    columns, steps = (
        ["part", "code", "height"],
        make_column_transformer(
            (STEPS["rare codes and parts, in several ways, some of them new"][1], ["part", "code"]),
            (QuantileTransformer(n_quantiles=5), ["height"]),
        ),
    )
    X, y = table()
    save(make_pipeline(steps, StandardScaler(), clone(MODEL)).fit(X[columns], y), path)
    load(path)
    path.write_bytes(damaged(path, LIES[name]))
    with pytest.raises(ModelFileError):
        load(path)


PIECES = "columns of all kinds: pieces of components, pieces of a clip, codes"
_SPLINE = "pieces of filled and scaled numbers, scaled and clipped"
LIES_OF_PIECES = {
    "a second line that is none": lambda p, a: a[p["fold"]["number"]].__setitem__((0, 1), 0.0),
    "second lines of other columns": lambda p, a: p.update(source=None),
    "another second line": lambda p, a: a[p["fold"]["number"]].__setitem__((1, 2), 9.0),
    "no second lines": lambda p, a: p.update(fold=None),
    "knots in no order": lambda p, a: a[_knots(p)].__setitem__(0, 1e9),
    "too many tables": lambda p, a: p.update(_nested(p, 40)),
}


def _knots(preparation):
    (steps,) = (step for step in preparation["steps"] if step["kind"] == "SplineTransformer")
    return steps["state"]["bsplines_"][0]["number"]


def _nested(found, count):
    table = {name: found[name] for name in FIELDS}
    return table if count == 0 else {"before": _nested(found, count - 1), "after": table}


@in_one_test("name", LIES_OF_PIECES)
def test_pieces_that_lie_are_refused(name, path):
    columns, steps = STEPS[_SPLINE]
    X, y = table()
    model = Pipeline([*clone(steps).steps, ("model", clone(MODEL))]).fit(X[columns], y)
    save(model, path)
    path.write_bytes(damaged(path, LIES_OF_PIECES[name]))
    with pytest.raises(ModelFileError):
        load(path)


def test_an_index_that_only_explain_reads_is_checked_when_the_file_is_loaded(path):
    X = np.array([[0.0], [np.nan], [1.0], [np.nan], [2.0], [3.0]])
    model = make_pipeline(SimpleImputer(add_indicator=True), clone(MODEL)).fit(X, X[:, 0] > 0.5)
    save(model, path)

    def change_indicator(p, arrays):
        indicator = p["steps"][0]["state"]["indicator_"]["state"]
        arrays[indicator["features_"]["number"]][0] = 1  # X has one column

    path.write_bytes(damaged(path, change_indicator))
    with pytest.raises(ModelFileError, match="steps do not match its preparation table"):
        load(path)


def test_a_column_that_only_its_names_read_is_checked_when_the_file_is_loaded(path):
    X = np.random.default_rng(0).standard_normal((20, 2))
    steps = make_column_transformer((StandardScaler(), [0]))
    save(make_pipeline(steps, clone(MODEL)).fit(X, X[:, 0] > 0.0), path)

    def change_index(p, arrays):
        indices = p["steps"][0]["state"]["_transformer_to_input_indices"]
        indices["items"][0][1][0] = 9  # X has two columns

    path.write_bytes(damaged(path, change_index))
    with pytest.raises(ModelFileError, match="steps do not match its preparation table"):
        load(path)


def test_a_missing_value_behind_several_tables_is_refused_by_its_name(path):
    model, rows = fitted(PIECES)
    save(model, path)
    rows = rows.assign(height=np.nan)
    with pytest.raises(ValueError, match="Row 0 has no value in column 'height'"):
        runtime.load(path).predict(rows)


@in_one_test(
    "change",
    [
        {"_n_features_outs": [1]},
        {"_drop_idx_after_grouping": {"$": "objects", "items": [7]}},
        {"_infrequent_enabled": True},
    ],
)
def test_what_an_encoder_derives_is_not_read_from_files(change, path):
    model, rows = fitted("codes")
    save(model, path)
    path.write_bytes(damaged(path, lambda p, a: p["steps"][0]["state"].update(change)))
    assert_array_equal(load(path).predict(rows), model.predict(rows))


def test_encoders_with_unordered_categories_are_refused(path):
    save(fitted("codes")[0], path)

    def swap(p, arrays):
        place = p["steps"][0]["state"]["categories_"][0]["number"]
        arrays[place][:] = arrays[place][::-1].copy()

    path.write_bytes(damaged(path, swap))
    with pytest.raises(ModelFileError, match="categories that no fit leaves"):
        load(path)


def test_files_of_older_releases_of_scikit_learn_load(path):
    model, rows = fitted("imputed")
    save(model, path)

    def older(p, arrays):
        for name in ("_fill_dtype", "keep_empty_features", "add_indicator"):
            p["steps"][0]["state"].pop(name, None)

    path.write_bytes(damaged(path, older))
    assert_array_equal(load(path).predict(rows), model.predict(rows))


def test_a_file_that_speaks_of_many_columns_takes_no_memory_for_them(path):
    save(fitted("codes")[0], path)
    header, arrays = from_bytes(path.read_bytes())
    header["n_features"] = header["preparation"]["n_features"] = 1 << 21
    header["feature_names"] = None
    header["preparation"]["steps"][0]["state"]["n_features_in_"] = 1 << 21
    path.write_bytes(to_bytes(header, arrays))
    tracemalloc.start()
    try:
        load(path)
        assert tracemalloc.get_traced_memory()[1] < 1 << 23
    finally:
        tracemalloc.stop()


def test_caches_and_jobs_stay_on_their_machine(path, tmp_path):
    model, _ = fitted("columns")
    model[0].n_jobs = 1000
    model[0].named_transformers_["numbers"].memory = str(tmp_path / "cache")
    save(model, path)
    found = load(path)[0]
    assert found.n_jobs is None and found.named_transformers_["numbers"].memory is None


# --- C and ONNX ---------------------------------------------------------------------------------


def in_onnxruntime(proto):
    return onnxruntime.InferenceSession(proto.SerializeToString(), providers=_CPU)


_CPU = ["CPUExecutionProvider"]


@needs_gcc
@pytest.mark.parametrize("kind", ["float32", "int8"])
@pytest.mark.parametrize("name", STEPS)
def test_c_takes_the_raw_rows_of_a_pipeline(name, kind, tmp_path):
    model, rows = fitted(name)
    record = to_c(model, tmp_path, kind, name="model")
    library = compiled([record], tmp_path)
    raw, wanted = rows.to_numpy(dtype=np.float32), model.decision_function(rows)
    scores = scores_in_c(library, raw, 1)[:, 0]
    if kind == "float32":
        assert_allclose(scores, wanted, rtol=0.0, atol=2e-4 * np.abs(wanted).max())
    else:
        assert np.mean((scores > 0) == (wanted > 0)) > 0.9
    assert runs(record, tmp_path) == 0  # on drawn rows, gaps and categories among them


def test_c_names_the_columns_and_costs_what_it_says(tmp_path):
    model, _ = fitted("columns")
    record = to_c(model, tmp_path)
    header = record.header.read_text()
    assert " *   0  age\n *   1  height\n *   2  code\n" in header
    assert "#define MODEL_N_FEATURES 3" in header
    alone = to_c(model[-1], tmp_path / "alone")
    assert record.table_bytes > alone.table_bytes and record.code_bytes > alone.code_bytes


def test_foreign_names_stay_comments(tmp_path):
    X, y = table()
    X = X[["height", "code"]].set_axis(["a */ #error \n @ <LABELS>", "ü??/"], axis=1)
    model = make_pipeline(StandardScaler(), clone(MODEL)).fit(X, y)
    header = to_c(model, tmp_path).header.read_text()
    assert "0  a * / #error @ <LABELS>\n *   1  ???/\n */" in header


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", STEPS)
def test_onnx_takes_the_raw_rows_of_a_pipeline(name, dtype):
    model, rows = fitted(name)
    session = in_onnxruntime(to_onnx(model, dtype=dtype))
    raw, wanted = rows.to_numpy(dtype=dtype), model.decision_function(rows)
    label, scores = session.run(["label", "scores"], {"X": raw})
    tolerance = 2e-4 if dtype == "float32" else 1e-9
    assert_allclose(scores[:, 0], wanted, rtol=0.0, atol=tolerance * np.abs(wanted).max())
    if dtype == "float64":
        assert_array_equal(label, model.predict(rows))


@in_one_test("name", TEXT_STEPS)
def test_text_goes_to_every_target(name, tmp_path):
    model, rows = fitted(name)
    wanted = model.decision_function(rows)
    near = {"rtol": 0.0, "atol": 1e-9 * np.abs(wanted).max()}
    scorer = model[-1].compile(model[:-1])
    assert_allclose([scorer(row) for row in rows.to_numpy()], wanted, **near)
    assert_allclose([scorer(row) for row in rows.to_numpy().tolist()], wanted, **near)
    session = in_onnxruntime(to_onnx(model))
    assert_allclose(session.run(["scores"], onnx_columns(session, rows))[0][:, 0], wanted, **near)
    for kind in ("float32", "int8"):
        assert runs(to_c(model, tmp_path / kind, kind, sample=rows), tmp_path / kind) == 0
    assert runs(to_c(model, tmp_path / "drawn"), tmp_path / "drawn") == 0
    header = (tmp_path / "drawn" / "model.h").read_text()
    assert "int model_code(int column, const char *text);" in header
    assert "color (a code of text)" in header


def onnx_columns(session, rows):
    """Inputs of a graph that has one for each column."""
    types = {one.name: one.type for one in session.get_inputs()}
    numbers = {"tensor(float)": np.float32, "tensor(double)": np.float64}
    return {
        name: rows[[name]].fillna("").to_numpy().astype(object)
        if kind == "tensor(string)" else rows[[name]].to_numpy(dtype=numbers[kind])
        for name, kind in types.items()
    }  # fmt: skip


def test_metadata_name_features_classes_and_versions():
    model, _ = fitted("columns")
    notes = {prop.key: prop.value for prop in to_onnx(model).metadata_props}
    assert json.loads(notes["feature_names"]) == ["age", "height", "code"]
    assert json.loads(notes["classes"]) == [0, 1]
    assert json.loads(notes["versions"])["nearlinear"] == nearlinear.__version__
    with pytest.raises(OnnxExportError, match="dtype='float16'"):
        to_onnx(model, dtype="float16")


def test_a_missing_value_that_is_refused_gives_no_scores_elsewhere(tmp_path):
    model, _ = fitted("standard")
    raw = np.array([[np.nan, 3.0]])
    session = in_onnxruntime(to_onnx(model))
    assert np.isnan(session.run(["scores"], {"X": raw})[0]).all()
