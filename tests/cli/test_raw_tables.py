"""``nearlinear predict`` and ``score`` on tables of texts, dates and missing cells."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

from nearlinear import LLSVMClassifier, TableEncoder, save
from nearlinear.cli import main


@pytest.fixture(scope="module")
def trips(tmp_path_factory):
    """A table, the answers, and files of the table and of a model of it."""
    rng, folder = np.random.default_rng(0), tmp_path_factory.mktemp("trips")
    n_rows = 80
    X = pd.DataFrame(
        {
            "km": rng.normal(50, 20, n_rows).round(3),
            "line": rng.choice(["007", "12", "B"], n_rows, p=[0.5, 0.3, 0.2]),
            "day": rng.permutation(pd.date_range("2024-01-01", periods=n_rows)).astype(str),
            "seats": rng.choice([2, 4, 5], n_rows),
        }
    )
    X["day"] = X["day"].str[:10]
    y = np.where(X["km"] + 30 * (X["line"] == "007") > 60, "late", "on time")
    X.loc[::9, "km"], X.loc[::7, "line"], X.loc[::11, "day"] = np.nan, None, None
    X = X.sort_values("line", na_position="first")  # so that some pieces hold digits alone
    model = make_pipeline(TableEncoder(), LLSVMClassifier(random_state=0)).fit(X, y)
    save(model, folder / "model.nlm")
    X.assign(answer=y).to_csv(folder / "trips.csv", index=False)
    X.assign(day=pd.to_datetime(X["day"])).to_parquet(folder / "trips.parquet")
    return X, model.predict(X), y, folder


@pytest.mark.filterwarnings("ignore:Columns of X that were not seen")
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_texts_dates_and_gaps_are_read_as_in_the_fit(trips, kind, tmp_path):
    _, wanted, _, folder = trips
    out = tmp_path / "labels.csv"
    data, model = folder / f"trips.{kind}", folder / "model.nlm"
    assert main(["predict", str(model), str(data), "--rows", "9", "--out", str(out)]) == 0
    assert pd.read_csv(out)["prediction"].tolist() == wanted.tolist()


def test_the_score_is_that_of_python(trips, capsys):
    _, answers, y, folder = trips
    words = ["score", str(folder / "model.nlm"), str(folder / "trips.csv"), "--target", "answer"]
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["accuracy"]
    assert found == pytest.approx(np.mean(answers == y))


def test_a_text_among_numbers_is_refused_by_row_and_column(trips, refused_command, tmp_path):
    X, _, _, folder = trips
    X.assign(km=["far", *X["km"][1:]]).to_csv(tmp_path / "trips.csv", index=False)
    line = refused_command("predict", folder / "model.nlm", tmp_path / "trips.csv")
    assert "row 1, column 'km': 'far' is no number" in line
