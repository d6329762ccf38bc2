"""A model behind a TableEncoder: files, the NumPy runtime, ONNX, C, single rows."""

import duckdb
import numpy as np
import onnxruntime
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix
from shipping import run_test_program
from sklearn.pipeline import make_pipeline

import nearlinear.runtime
from nearlinear import LLSVMClassifier, TableEncoder, load, save, to_c, to_onnx, to_sql
from nearlinear.export.c.source import CSourceError
from nearlinear.export.onnx.graph import OnnxExportError

DATES = ["born", "seen"]


def fitted(X, y, **settings):
    return make_pipeline(TableEncoder(**settings), LLSVMClassifier(random_state=0)).fit(X, y)


def strange(X):
    """New rows: values that nobody has seen, and gaps everywhere."""
    rows = X.sample(60, random_state=1).astype(object)
    rows.iloc[:10, rows.columns.get_loc("color")] = "mauve"
    rows.iloc[5:15, rows.columns.get_loc("sex")] = "other"
    rows.iloc[10:20, rows.columns.get_loc("city")] = "Atlantis"
    gaps = np.random.default_rng(0).random(rows.shape) < 0.1
    return rows.mask(gaps, None)


@pytest.mark.parametrize("pieces", [None, 5])
def test_files_the_runtime_and_single_rows_give_the_same_scores(people, pieces, tmp_path):
    X, y = people
    model, rows = fitted(X.assign(same="q"), y, pieces=pieces), strange(X.assign(same="q"))
    wanted, path = model.decision_function(rows), tmp_path / "model.nlm"
    save(model, path)
    found = load(path)
    assert_array_equal(found.decision_function(rows), wanted)
    assert found[0].columns_ == model[0].columns_
    read, cells = nearlinear.runtime.load(path), rows.to_numpy()
    assert_allclose(read.decision_function(cells), wanted, atol=1e-9)
    written = rows.assign(born=pd.to_datetime(rows["born"]).dt.strftime("%Y-%m-%dT%H:%M"))
    assert_allclose(read.decision_function(written.to_numpy(dtype=object)), wanted, atol=1e-9)
    score = model[-1].compile(preparation=model[0])
    assert_allclose([score(list(row)) for row in cells[:20]], wanted[:20], atol=1e-9)
    before = path.read_bytes()
    save(found, path)
    assert path.read_bytes() == before
    with pytest.raises(OnnxExportError, match="Column 'born' holds dates, which ONNX has not"):
        to_onnx(model)
    with pytest.raises(CSourceError, match="Column 'born' holds dates, and C rows are numbers"):
        to_c(model, tmp_path)


def test_onnx_takes_the_texts_and_numbers_of_a_table(people):
    X, y = people
    X = X.drop(columns=DATES)
    model, rows = fitted(X, y), strange(X)
    session = onnxruntime.InferenceSession(to_onnx(model, dtype="float64").SerializeToString())
    texts = {one.name for one in session.get_inputs() if one.type == "tensor(string)"}
    assert texts == {"sex", "color", "city"}
    given = {
        name: (rows[[name]].fillna("") if name in texts else rows[[name]].astype(float)).to_numpy()
        for name in (one.name for one in session.get_inputs())
    }
    found = session.run(["scores"], given)[0][:, 0]
    assert_allclose(found, model.decision_function(rows), atol=1e-9)


def test_c_takes_the_numbers_of_a_table(people, tmp_path):
    X, y = people
    X = X[["age", "income", "children", "smokes", "grade", "size"]]
    run_test_program(to_c(fitted(X, y), tmp_path))


@pytest.mark.parametrize("pieces", [None, 5])
@pytest.mark.filterwarnings("ignore:Column '")
def test_slips_among_numbers_ship(people, pieces, tmp_path):
    X, y = people
    X = X[["age", "income", "grade", "children"]].astype(object)
    X.loc[20, :] = X.loc[21, :] = ["young", "?", "b", "none"]
    model, rows = fitted(X, y, pieces=pieces), X.sample(60, random_state=0)
    assert sorted(model[0].strays_) == sorted(X.columns)
    rows.iloc[3:9, :] = ["forty", "1e2", "1_0", "inf"]
    wanted, path = model.decision_function(rows), tmp_path / "model.nlm"
    save(model, path)
    assert_array_equal(load(path).decision_function(rows), wanted)
    read, cells = nearlinear.runtime.load(path), rows.to_numpy()
    assert_allclose(read.decision_function(cells), wanted, atol=1e-9)
    score = model[-1].compile(preparation=model[0])
    assert_allclose([score(list(row)) for row in cells], wanted, atol=1e-9)
    with duckdb.connect() as base:
        base.register("rows", rows.astype("string"))
        assert_allclose(base.execute(to_sql(model)).df()["score"], wanted, atol=1e-9)
    # elsewhere rows are numbers, and NaN is what is missing
    numbers = rows.apply(pd.to_numeric, errors="coerce").replace(np.inf, np.nan)
    session = onnxruntime.InferenceSession(to_onnx(model, dtype="float64").SerializeToString())
    found = session.run(["scores"], {"X": numbers.to_numpy(dtype=float)})[0][:, 0]
    assert_allclose(found, wanted, atol=1e-9)
    run_test_program(to_c(model, tmp_path))
    for largest in (np.inf, 1e400):
        with pytest.raises(ValueError, match="Row 0 has a number that is infinite"):
            read.decision_function(np.array([[largest, 1.0, 1.0, 1.0]], dtype=object))


def test_csr_rows_ship(tmp_path):
    rng = np.random.default_rng(0)
    X = csr_matrix(rng.normal(size=(80, 6)) * (rng.random((80, 6)) < 0.3) * [9, 1, 0, 1, 1, 1])
    model = fitted(X, X.sum(axis=1).A1 > 0)
    wanted, path = model.decision_function(X), tmp_path / "model.nlm"
    save(model, path)
    assert_array_equal(load(path).decision_function(X), wanted)
    read = nearlinear.runtime.load(path)
    assert_allclose(read.decision_function(X.toarray()), wanted, atol=1e-9)
    run_test_program(to_c(model, tmp_path))
