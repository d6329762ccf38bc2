"""An encoder from blocks is the one from the whole table, but for quantiles of a sample."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import random as random_sparse

from nearlinear import TableEncoder
from nearlinear.streams.blocks import Parted
from nearlinear.tables import in_blocks
from nearlinear.tables.in_blocks import encoding_of
from nearlinear.tables.survey import TableSurvey

N_ROWS, STEP = 3000, 410


@pytest.fixture(autouse=True)
def small_sample(monkeypatch):
    monkeypatch.setattr(in_blocks, "SAMPLE_ROWS", 600)


def table(seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({
        "number": rng.standard_normal(N_ROWS), "flag": 1.0 * (rng.random(N_ROWS) < 0.3),
        "color": rng.choice(["red", "green", None], N_ROWS),
        "town": [f"t{k}" for k in rng.zipf(1.5, N_ROWS) % 400],
        "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, N_ROWS), "D"),
        "row": np.arange(N_ROWS), "rare": 0.0, "told": rng.integers(0, 50, N_ROWS).astype(str),
    })  # fmt: skip
    # what no sample has: a level, and the only other value of a column
    unseen = np.flatnonzero(~np.isin(np.arange(N_ROWS), sampled_rows()))[:30]
    frame.loc[unseen, "color"], frame.loc[unseen[0], "rare"] = "violet", 1.0
    frame.loc[unseen[:2], "flag"] = np.nan
    return frame, rng


def sampled_rows():
    from nearlinear.streams.survey import row_ranks

    seed = np.random.RandomState(0).randint(2**31 - 1)
    return np.argsort(row_ranks(0, N_ROWS, seed))[:600]


def blocks(X, y):
    return [(X[k : k + STEP], y[k : k + STEP]) for k in range(0, X.shape[0], STEP)]


@pytest.mark.parametrize("kind", ["two classes", "three classes", "values"])
def test_all_rows_are_counted(kind):
    X, rng = table()
    y = rng.standard_normal(N_ROWS) * 3 + 1e5
    if kind != "values":
        y = rng.choice(["a", "b"] if kind == "two classes" else ["a", "b", "c"], N_ROWS)
    target_type = "values" if kind == "values" else "classes"
    with pytest.warns(UserWarning, match="'row' .it numbers the rows"):
        whole = TableEncoder(target_type=target_type).fit(X, y)
        found = TableEncoder(target_type=target_type).fit(blocks(X, y))
    assert found.columns_ == whole.columns_ and found.dropped_ == whole.dropped_
    names = found.get_feature_names_out().tolist()
    assert names == whole.get_feature_names_out().tolist() and "color_violet" in names
    means, wanted = (e.transformer_.named_transformers_["target"][0] for e in (found, whole))
    for one, other in zip(means.encodings_, wanted.encodings_, strict=True):
        assert np.allclose(one, other, rtol=1e-9)
    is_mean = np.array([name.startswith("town") for name in names])
    Z, expected = found.transform(X), whole.transform(X)
    assert np.allclose(Z[:, ~is_mean], expected[:, ~is_mean], atol=1e-9)
    # the same means on another scale: that of training rows, which other folds have cross-fitted
    for one, other in zip(Z[:, is_mean].T, expected[:, is_mean].T, strict=True):
        assert np.corrcoef(one, other)[0, 1] > 1 - 1e-9


def test_training_rows_do_not_know_their_own_answer():
    rng = np.random.default_rng(1)
    X = pd.DataFrame(
        {"id": [f"k{k}" for k in rng.permutation(N_ROWS) // 3], "x": rng.random(N_ROWS)}
    )
    y = rng.integers(0, 2, N_ROWS)
    survey = TableSurvey(True, 0)
    found = survey.run(Parted(blocks(X, y)), lambda block: 600)
    encoding = encoding_of(TableEncoder(target_type="classes"), survey, found.sample)
    encoded = np.vstack([
        encoding.encode(part, STEP * k) for k, (part, _) in enumerate(blocks(X, y))
    ])  # fmt: skip
    column = encoding.encoder.transformer_.output_indices_["target"].start
    assert abs(np.corrcoef(encoded[:, column], y)[0, 1]) < 0.1
    assert np.corrcoef(encoding.encoder.transform(X)[:, column], y)[0, 1] > 0.4


def test_sparse_rows_and_other_libraries():
    polars = pytest.importorskip("polars")
    X = random_sparse(500, 30, 0.1, format="csr", random_state=0)
    y = np.arange(500) % 2
    found, whole = TableEncoder().fit(blocks(X, y)), TableEncoder().fit(X, y)
    assert abs(found.transform(X) - whole.transform(X)).max() == 0
    frame, _ = table()
    frame, y = frame.drop(columns="row"), np.arange(N_ROWS) % 2
    told = TableEncoder().fit([(polars.from_pandas(a), b) for a, b in blocks(frame, y)])
    assert np.array_equal(
        told.transform(frame), TableEncoder().fit(blocks(frame, y)).transform(frame)
    )


def test_a_column_of_two_types_is_one_sentence():
    y = np.arange(20) % 2
    parts = [pd.DataFrame({"a": np.arange(20.0)}), pd.DataFrame({"a": ["x", "y"] * 10})]
    with pytest.raises(ValueError, match="from row 20 on: column 'a' is of one type in some"):
        TableEncoder().fit([(part, y) for part in parts])
