"""A front door of a raw table goes wherever a model can go."""

import numpy as np
import pytest
from onnxruntime import InferenceSession
from search.test_near_linear import table
from shipping import run_test_program

import nearlinear
from nearlinear.search.averaging import Blend
from nearlinear.search.fitting import learned_of


def blended(model):
    """The same front door with an average of all its members, whatever was chosen."""
    found = model._state
    n_members = len(found.members)
    blend = Blend(tuple(range(n_members)), tuple(np.full(n_members, 1 / n_members).tolist()))
    learned = learned_of(found, blend, model.tried_)
    learned.attributes["encoder_"] = model.encoder_
    return model._settle(learned)


def raw_rows():
    X, _ = table(40, seed=5)
    X.loc[0, "color"], X.loc[1, "color"], X.loc[2, "a"] = "violet", None, np.nan
    return X


@pytest.mark.parametrize("kind", ["two classes", "three classes", "values"])
def test_scores_are_the_same_everywhere(kind, tmp_path):
    X, value = table(200)
    if kind == "values":
        model = nearlinear.NearLinearRegressor(random_state=0).fit(X, value)
    else:
        edges = [2] if kind == "two classes" else [1, 3]
        model = nearlinear.NearLinearClassifier(random_state=0).fit(X, np.digitize(value, edges))
    model, rows = blended(model), raw_rows()
    assert len(model.predictor_.members) > 2
    is_classifier = kind != "values"

    def scores_of(found, X):
        scores = found.decision_function(X) if is_classifier else found.predict(X)
        return np.reshape(scores, (len(rows), -1))

    scores, path = scores_of(model, rows), tmp_path / "model.nlm"
    near = {"rtol": 0, "atol": 2e-5 * np.abs(scores).max()}  # single precision
    nearlinear.save(model, path)
    loaded = nearlinear.load(path)
    assert np.array_equal(scores_of(loaded, rows), scores)
    assert loaded.front_["model"].tolist() == model.front_["model"].tolist()
    if not is_classifier:
        assert np.array_equal(loaded.predict_interval(rows), model.predict_interval(rows))
    with pytest.raises(ValueError, match="comes from a file"):
        loaded.select(knee=True)

    plain = rows.astype(object).where(rows.notna(), None).to_numpy()
    np.testing.assert_allclose(scores_of(nearlinear.runtime.load(path), plain), scores, **near)
    scorer = model.compile()
    np.testing.assert_allclose([np.ravel(scorer(row)) for row in plain], scores, **near)
    explained = model.explain(rows)
    np.testing.assert_allclose(explained.scores, scores, **near)

    session = InferenceSession(nearlinear.to_onnx(model).SerializeToString())
    columns = {
        name: (
            rows[name].fillna("").to_numpy(str)[:, None]
            if name == "color"
            else rows[name].to_numpy(np.float32)[:, None]
        )
        for name in rows.columns
    }
    (found,) = session.run(["scores" if is_classifier else "variable"], columns)
    np.testing.assert_allclose(found.reshape(scores.shape), scores, **near)
    run_test_program(nearlinear.to_c(model, tmp_path / "c", sample=rows))


def test_explanations_speak_of_raw_columns():
    X, value = table(200)
    few = {"families": ["anchors", "boosted trees"], "random_state": 0}
    model = blended(nearlinear.NearLinearRegressor(**few).fit(X, value))
    explained = model.explain(raw_rows())
    assert explained.feature_names == tuple(X.columns)
    total = explained.contributions.sum(axis=2) + explained.intercepts
    np.testing.assert_allclose(total[:, 0], model.predict(raw_rows()), rtol=1e-4)
