"""The service answers a row as the model does, and refuses a bad one in a sentence."""

import asyncio
import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

from nearlinear import LDKLClassifier, TableEncoder, save

APP = Path(__file__).parents[2] / "examples" / "serving" / "app.py"


def test_the_service_answers_as_the_model_does(tmp_path, monkeypatch):
    fastapi = pytest.importorskip("fastapi")
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"size": rng.normal(5.0, 2.0, 90), "color": ["red", "blue", None] * 30})
    model = make_pipeline(TableEncoder(), LDKLClassifier(1, max_iter=3, random_state=0))
    save(model.fit(table, table["size"] > 5), tmp_path / "model.nlm")
    monkeypatch.setenv("MODEL", str(tmp_path / "model.nlm"))
    predict = runpy.run_path(str(APP))["predict"]

    found = asyncio.run(predict({"color": "red", "size": 9}))
    expected = model.predict_proba(pd.DataFrame({"size": [9.0], "color": ["red"]}))[0]
    assert found["label"] is True
    assert list(found["probabilities"].values()) == pytest.approx(expected.tolist(), abs=1e-6)
    for row, sentence in (
        ({"size": 9}, "A row has the columns 'size', 'color'"),
        ({"size": "large", "color": "red"}, "'large' in column 'size'"),
        ({"size": 10**400, "color": "red"}, "too large"),
    ):
        with pytest.raises(fastapi.HTTPException, match=sentence):
            asyncio.run(predict(row))
