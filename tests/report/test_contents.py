"""Numbers of a report are those of the model."""

import json

import numpy as np
import pytest
from report.conftest import HOSTILE, raw_rows
from scipy.sparse import csr_matrix, hstack
from sklearn.metrics import confusion_matrix, log_loss, r2_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from small_estimators import SMALL, SMALL_REGRESSORS

import nearlinear
from nearlinear import LLSVMClassifier, TableEncoder
from nearlinear.report.contents import contents
from nearlinear.report.groups import groups, words
from nearlinear.report.page import json_text, page
from nearlinear.report.subject import Whole, subject_of


def test_measures_of_classes(classes, told):
    (model, X, y), document = classes, told["classes"][1]
    measures = document["measures"]
    assert measures["accuracy"] == pytest.approx(model.score(X, y))
    assert measures["log_loss"] == pytest.approx(log_loss(y, model.predict_proba(X)))
    assert measures["confusion"]["labels"] == model.classes_.tolist()
    assert measures["confusion"]["counts"] == confusion_matrix(y, model.predict(X)).tolist()
    assert sum(one["rows"] for one in measures["calibration"]["bins"]) == len(y)
    assert f"{100 * model.score(X, y):.1f} %" in document["found"]
    assert document["cost"]["times_linear"] == model.cost_.times_linear


def test_measures_of_values(values, told):
    (model, X, y), document = values, told["values"][1]
    measures = document["measures"]
    assert measures["r2"] == pytest.approx(r2_score(y, model.predict(X)))
    low, high = model.predict_interval(X, 0.8).T
    level = next(one for one in measures["intervals"]["levels"] if one["asked"] == 0.8)
    assert level["held"] == pytest.approx(np.mean((low <= y) & (y <= high)))
    assert sum(measures["residuals"]["counts"]) == len(y)


@pytest.mark.parametrize("task", ["classes", "values"])
def test_curves_are_the_model(task, told):
    subject, document = told[task]
    curves = document["effects"]["curves"]
    assert {one["form"] for one in curves} == {"numbers", "values", "dates"}
    for effect in curves:
        is_of_numbers = effect["form"] == "numbers"
        x = np.array(effect["x"], dtype=None if is_of_numbers else object)
        if is_of_numbers:
            column = subject.rows.column(effect["column"])
            ends = np.nanmin(column), np.nanmax(column)
            np.testing.assert_allclose(x, np.linspace(*ends, 200), rtol=1e-5, atol=1e-6)
        rows = subject.rows.with_column(subject.typical, effect["column"], x)
        said = (
            subject.model.predict_proba(rows) if task == "classes" else subject.model.predict(rows)
        )
        said = said.reshape(len(x), -1)
        for curve in effect["curves"]:
            mine = said[:, 0 if curve["of"] is None else subject.classes.index(curve["of"])]
            # both coordinates are rounded to seven digits
            np.testing.assert_allclose(curve["y"], mine, atol=1e-4 * np.ptp(curve["y"]) + 1e-6)


def test_columns_are_told_in_the_words_of_the_encoder(classes, told):
    model, document = classes[0], told["classes"][1]
    told_columns = document["columns"]["columns"]
    assert [one["done"] for one in told_columns] == [one["done"] for one in model.encoder_.columns_]
    assert told_columns[-1]["done"] == "dropped: always 'the same'"
    assert told_columns[-1]["share"] == 0.0
    explained = model.explain(classes[1])
    parts = explained.contributions
    sizes = np.abs(parts - parts.mean(axis=0)).mean(axis=0).sum(axis=0)
    shares = {one["name"]: one["share"] for one in document["importances"]["columns"]}
    for name, size in zip(explained.names, sizes / sizes.sum(), strict=True):
        assert shares[name] == pytest.approx(size)


def test_every_point_of_the_front_that_has_a_command_is_what_it_gives(values, told):
    model, document = values[0], told["values"][1]
    points = document["front"]["points"]
    assert [one["us"] for one in points] == sorted(one["us"] for one in points)
    given = {"model": model, "nearlinear": nearlinear}
    for one in points:
        if one["python"] is not None and not one["is_chosen"]:
            other = eval(
                one["python"].replace("nearlinear.save(", "(").rpartition(",")[0] + ")", given
            )
            chosen = next(o for o in other.record_ if o["is_chosen"])
            assert chosen["model"] == one["model"]
            assert chosen["n_bytes"] == one["bytes"]
    assert any(one["is_chosen"] for one in points)


def test_commands_of_a_model_of_dates_have_no_onnx_and_no_c(told):
    subject, document = told["classes"]
    assert subject.has_dates
    text = json.dumps([document["front"], document["lines"]])
    assert "--to js" in text
    assert ".onnx" not in text and "model.c" not in text


def test_peers_stand_in_the_front_and_in_the_costs(values):
    model, X, y = values
    peer = {"name": "a rival", "score": 0.5, "us_per_row": 3.0, "bytes": 10, "loss": float("nan")}
    document = contents(subject_of(model, X, y), peers=[peer])
    assert document["front"]["peers"][0]["model"] == "a rival"
    assert document["cost"]["peers"][0]["us_per_row"] == 3.0
    json.loads(json_text(document))


def test_regions_hold_all_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    y = X[:, 0] * X[:, 1] > 0
    model = LLSVMClassifier(n_anchors=6, n_neighbors=2, random_state=0).fit(X, y)
    found = contents(subject_of(model, X, y))["regions"]
    assert sum(one["rows"] for one in found["regions"]) == len(X)
    nearest = model.explain(X)
    strongest = nearest.active[np.arange(len(X)), nearest.gates.argmax(axis=1)]
    for one in found["regions"]:
        mine = strongest == one["number"]
        assert one["rows"] == mine.sum()
        assert one["accuracy"] == pytest.approx(np.mean(model.predict(X[mine]) == y[mine]))
        assert mine[one["typical_row"]]
    assert {p["region"] for p in found["map"]} == set(strongest.tolist())


def test_a_judge_answers_for_the_model(classes):
    model, X, y = classes
    other = type(model)(families=["linear"], random_state=0).fit(X, y)
    document = contents(subject_of(model, X, y, judge=other))
    assert not document["is_own_judge"]
    assert document["measures"]["accuracy"] == pytest.approx(other.score(X, y))


ONES = ["LLSVMClassifier", "LDKLClassifier", "SVMKNNClassifier", "SimpleMKLClassifier",
        "MLLKMClassifier", "LMKLClassifier", "LocalForestClassifier", "DCPredClassifier",
        "LDKLRegressor", "SimpleMKLRegressor", "LocalForestRegressor"]  # fmt: skip


@pytest.mark.parametrize("name", ONES)
def test_every_family_can_report(name):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 2))
    y = X[:, 0] * X[:, 1]
    y = y if name in SMALL_REGRESSORS else np.where(y > 0, "same", "other")
    settings = {**SMALL, **SMALL_REGRESSORS}[name]
    pipeline = make_pipeline(StandardScaler(), getattr(nearlinear, name)(**settings)).fit(X, y)
    whole = Whole.of(pipeline)
    subject = subject_of(whole.model, X[:20], y[:20], whole.preparation)
    text = page(subject)
    assert len(text) < 2_000_000
    assert ("cannot be saved" in text) == (name == "SVMKNNClassifier")
    assert len(contents(subject)["effects"]["curves"]) == 2


def test_sparse_rows():
    rng = np.random.default_rng(0)
    X = csr_matrix(rng.normal(size=(60, 30)) * (rng.random((60, 30)) < 0.3))
    y = np.asarray(X[:, [0]].todense()).ravel() > 0
    model = LLSVMClassifier(n_anchors=4, n_neighbors=2, random_state=0).fit(X, y)
    document = contents(subject_of(model, X, y))
    assert document["importances"]["columns"][0]["name"] == "x0"
    assert document["effects"]["curves"][0]["name"] == "x0"
    assert len(document["what_if"]["controls"]) == 30
    wide = hstack([X, csr_matrix((60, 5000))], format="csr")
    document = contents(subject_of(LLSVMClassifier(4, random_state=0).fit(wide, y), wide, y))
    assert document["what_if"] is None
    assert document["effects"]["curves"] == []


def test_a_table_encoder_of_a_pipeline_tells_its_columns():
    X, y, _ = raw_rows(100)
    pipeline = make_pipeline(TableEncoder(), LLSVMClassifier(4, random_state=0)).fit(X, y)
    subject = subject_of(pipeline[-1], X, y, pipeline[:-1])
    document = contents(subject)
    assert document["columns"]["columns"][1]["name"] == HOSTILE
    assert {one["kind"] for one in document["what_if"]["controls"]} == {"number", "text", "date"}


def test_what_has_no_report_is_refused_in_a_sentence(values):
    model, X, y = values
    with pytest.raises(ValueError, match="needs rows that judge"):
        subject_of(model, X[:0], y[:0])
    with pytest.raises(ValueError, match="one target"):
        subject_of(model, X, np.column_stack([y, y]))


def test_a_forest_has_groups_that_questions_lead_to():
    X, _, y = raw_rows()
    settings = {"families": ["boosted trees"], "random_state": 0}
    model = nearlinear.NearLinearRegressor(**settings).fit(X, y)
    subject = subject_of(model, X, y)
    nodes, found, share = groups(subject, [0, 1, 2])
    answers = model.predict(X)
    means = np.array([answers[found == g].mean() for g in range(found.max() + 1)])
    assert share == pytest.approx(r2_score(answers, means[found]))
    assert share > 0.4
    rules = words(nodes, subject.rows.names)
    for group, said in enumerate(rules):
        mine = subject.rows.column(0)[found == group]
        for rule in said:
            parts = rule.split("\u00a0")
            low = (
                float(parts[0]) if len(parts) == 5 else float(parts[2]) if ">" in parts else -np.inf
            )
            high = float(parts[-1]) if "≤" in parts else np.inf
            if "width" in parts:  # a missing cell goes on as a no
                assert np.all(np.isnan(mine) | ((low < mine) & (mine <= high)))
    assert sum("width" in rule for said in rules for rule in said) > 2
