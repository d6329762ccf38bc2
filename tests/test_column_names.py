"""Columns by name: in any order, with extra columns, with missing ones; docs/guide/pipelines.md."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import nearlinear
from nearlinear import runtime
from nearlinear.cli import main

EXTRA = "ignored: 'extra'"


def table(n_rows=80):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "width": rng.standard_normal(n_rows),
            "color": rng.choice(["red", "blue"], n_rows),
            "height": rng.standard_normal(n_rows),
        }
    )
    return X, np.where(X["width"] + (X["color"] == "red") > 0.5, "large", "small")


def reordered(X):
    return X[X.columns[::-1]]


def extended(X):
    return X.assign(extra="unused")[["extra", *X.columns[::-1]]]


@pytest.fixture(scope="module")
def raw_models(tmp_path_factory):
    """Models of raw tables and their files."""
    X, y = table()
    models = {
        "search": nearlinear.NearLinearClassifier(families=["anchors"], random_state=0),
        "pipeline": make_pipeline(
            nearlinear.TableEncoder(), nearlinear.LLSVMClassifier(n_anchors=4, random_state=0)
        ),
    }
    folder = tmp_path_factory.mktemp("models")
    for name, model in models.items():
        nearlinear.save(model.fit(X, y), folder / f"{name}.nlm")
    return {name: (model, folder / f"{name}.nlm") for name, model in models.items()}


@pytest.fixture(params=["search", "pipeline"])
def raw_model(request, raw_models):
    return raw_models[request.param]


@pytest.fixture(scope="module")
def plain_model(tmp_path_factory):
    X, y = table()
    X = X[["width", "height"]]
    path = tmp_path_factory.mktemp("plain") / "model.nlm"
    model = nearlinear.LDKLClassifier(depth=1, max_iter=3, random_state=0).fit(X, y)
    nearlinear.save(model, path)
    return model, path


def assert_by_name(predict, X):
    """Reordered and extra columns do not change predictions; missing ones are named."""
    expected = predict(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(predict(reordered(X)), expected)
    with pytest.warns(UserWarning, match=EXTRA) as caught:
        np.testing.assert_array_equal(predict(extended(X)), expected)
    assert len(caught) == 1
    with pytest.raises(ValueError, match=r"missing: 'width'\.$"):
        predict(X.drop(columns="width"))


# --- raw tables ---------------------------------------------------------------------------------


@pytest.mark.parametrize("reader", ["fitted", "load", "runtime.load"])
def test_a_model_of_raw_tables_takes_columns_by_name(raw_model, reader):
    model, path = raw_model
    if reader != "fitted":
        model = (nearlinear.load if reader == "load" else runtime.load)(path)
    assert_by_name(model.predict, table()[0])
    assert_by_name(model.decision_function, table()[0])


def test_explanations_are_of_the_columns_by_name(raw_model):
    model, X = raw_model[0], table()[0][:5]
    if hasattr(model, "steps"):
        last, settings = model[-1], {"preparation": model[:-1]}
    else:
        last, settings = model, {}
    expected = last.explain(X, **settings)
    for rows in (reordered(X), extended(X)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = last.explain(rows, **settings)
        assert found.names == expected.names
        np.testing.assert_array_equal(found.rows, expected.rows)
        np.testing.assert_array_equal(found.contributions, expected.contributions)


def test_a_report_takes_columns_by_name(raw_models, tmp_path):
    model, (X, y) = raw_models["search"][0], table()
    pages = [tmp_path / "one.html", tmp_path / "two.html"]
    for path, rows in zip(pages, (X, extended(X))):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.report(rows, y, path)
    assert "extra" not in pages[1].read_text("utf-8")


def test_a_column_that_the_encoder_dropped_may_be_missing(tmp_path):
    X, y = table()
    X = X.assign(constant=1.0)
    model = nearlinear.NearLinearClassifier(families=["anchors"], random_state=0).fit(X, y)
    nearlinear.save(model, tmp_path / "model.nlm")
    rows, expected = X.drop(columns="constant"), model.predict(X)
    for reader in (nearlinear.load, runtime.load):
        np.testing.assert_array_equal(reader(tmp_path / "model.nlm").predict(rows), expected)
    scorer = model.compile()
    assert scorer.predict(rows.iloc[0]) == expected[0]
    assert scorer.predict(rows.iloc[0].to_dict()) == expected[0]


def test_a_column_that_occurs_twice_is_an_error(raw_model):
    X = table()[0]
    twice = X.set_axis(["width", "color", "width"], axis=1)
    for model in (raw_model[0], runtime.load(raw_model[1])):
        with pytest.raises(ValueError, match="Two columns of X are called 'width'"):
            model.predict(twice)


# --- estimators of numbers ----------------------------------------------------------------------


def test_an_estimator_refuses_other_names_as_scikit_learn_does(plain_model):
    model, path = plain_model
    X = table()[0][["width", "height"]]
    for found in (model, nearlinear.load(path)):
        np.testing.assert_array_equal(found.predict(X), model.predict(X))
        for wrong in (reordered(X), X.assign(extra=1.0), X[["width"]]):
            with pytest.raises(ValueError, match="feature names should match"):
                found.predict(wrong)
            with pytest.raises(ValueError, match="feature names should match"):
                found.explain(wrong)


def test_the_runtime_takes_columns_of_an_estimator_by_name(plain_model):
    assert_by_name(runtime.load(plain_model[1]).decision_function, table()[0][["width", "height"]])


def test_the_runtime_selects_columns_of_polars(plain_model):
    polars = pytest.importorskip("polars")
    X, model = table()[0][["width", "height"]], runtime.load(plain_model[1])
    frame = polars.DataFrame({"extra": ["a"] * len(X), "height": X["height"], "width": X["width"]})
    with pytest.warns(UserWarning, match=EXTRA):
        found = model.decision_function(frame)
    np.testing.assert_array_equal(found, model.decision_function(X))


def test_an_average_of_models_warns_once(tmp_path):
    X, y = table()
    X = X[["width", "height"]]
    inner = make_pipeline(StandardScaler(), nearlinear.LDKLClassifier(depth=1, max_iter=3))
    nearlinear.save(CalibratedClassifierCV(inner, cv=2).fit(X, y), tmp_path / "model.nlm")
    assert_by_name(runtime.load(tmp_path / "model.nlm").predict_proba, X)


def test_columns_of_a_gate_follow_the_named_ones(tmp_path):
    X, y = table()
    X, gating = X[["width", "height"]], X[["height"]].rename(columns={"height": "view"})
    model = nearlinear.LMKLClassifier("gaussian", n_copies=2, max_iter=2, random_state=0)
    nearlinear.save(model.fit(X, y, gating=gating), tmp_path / "model.nlm")
    found = runtime.load(tmp_path / "model.nlm")
    both = pd.concat([X, gating], axis=1)
    expected = model.decision_function(X, gating=gating)
    for rows in (both, both[["view", "height", "width"]]):
        np.testing.assert_allclose(found.decision_function(rows), expected)


# --- single rows --------------------------------------------------------------------------------


def scorers(raw_models, plain_model):
    X, y = table()
    calibrated = CalibratedClassifierCV(raw_models["pipeline"][0], cv=2).fit(X, y)
    yield raw_models["search"][0].compile(), X
    yield nearlinear.row_scorer(raw_models["pipeline"][0]), X
    yield nearlinear.row_scorer(calibrated), X
    yield plain_model[0].compile(), X[["width", "height"]]


def test_single_rows_are_taken_by_name(raw_models, plain_model):
    for scorer, X in scorers(raw_models, plain_model):
        for as_row in (lambda rows: rows.iloc[0], lambda rows: rows.iloc[0].to_dict()):
            assert scorer.predict(as_row(X)) == scorer.predict(X.iloc[0].tolist())
            assert_by_name(lambda rows: np.array([scorer.predict(as_row(rows))]), X)  # noqa: B023


def test_batches_of_a_scorer_are_taken_by_name(raw_models, plain_model):
    for model, X in (
        (raw_models["search"][0], table()[0]),
        (plain_model[0], table()[0][["width", "height"]]),
    ):
        scorer = model.compile()
        np.testing.assert_allclose(
            scorer.batch(X[:6])[:, 0], model.decision_function(X[:6]), rtol=1e-5
        )
        assert_by_name(scorer.batch, X[:6])


def test_a_table_of_one_row_is_no_row(plain_model):
    with pytest.raises(ValueError, match="batch takes several rows"):
        plain_model[0].compile()(table()[0][["width", "height"]].iloc[[0]])


def test_a_row_by_names_needs_a_model_with_names():
    X, y = table()
    X = X[["width", "height"]]
    scorer = nearlinear.LDKLClassifier(depth=1, max_iter=3).fit(X.to_numpy(), y).compile()
    with pytest.raises(ValueError, match="no feature names"):
        scorer(X.iloc[0].to_dict())
    assert scorer(X.iloc[0]) == scorer(X.iloc[0].to_numpy())


# --- the command line ---------------------------------------------------------------------------


def run(capsys, *arguments):
    status = main([str(argument) for argument in arguments])
    return status, *capsys.readouterr()


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("command", ["predict", "score"])
def test_the_command_line_takes_columns_by_name(raw_models, tmp_path, capsys, command):
    X, y = table(20)
    path, data = raw_models["search"][1], tmp_path / "new.csv"
    target = ["--target", "size"] if command == "score" else []
    found = []
    for rows in (X, reordered(X), extended(X)):
        rows = rows.assign(size=y) if target else rows
        rows.to_csv(data, index=False)
        found.append(run(capsys, command, path, data, *target, *(["--rows", 7] * (not target))))
    (_, expected, quiet), (_, in_order, also_quiet), (status, with_extra, note) = found
    assert status == 0 and expected == in_order == with_extra
    assert quiet == also_quiet == ""
    assert note.count(EXTRA) == 1
    X.drop(columns="width").assign(**dict.fromkeys(target[1:], y)).to_csv(data, index=False)
    status, _, error = run(capsys, command, path, data, *target)
    assert status == 2 and "missing: 'width'" in error


def test_kept_columns_are_not_extra(raw_models, tmp_path, capsys):
    data = tmp_path / "new.csv"
    table(5)[0].assign(id=range(5)).to_csv(data, index=False)
    status, out, error = run(capsys, "predict", raw_models["search"][1], data, "--keep", "id")
    assert status == 0 and error == "" and out.startswith("id,")
