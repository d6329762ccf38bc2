"""TableEncoder: what becomes of columns, and what new rows may hold."""

import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.sparse import csr_matrix
from sklearn import config_context
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from nearlinear import TableEncoder
from nearlinear.tables.normal_scores import NormalScores


def columns(encoder, rows):
    return dict(zip(encoder.get_feature_names_out(), encoder.transform(rows).T))


@parametrize_with_checks([TableEncoder(), NormalScores()])
def test_scikit_learn_agrees(estimator, check):
    check(estimator)


def test_every_kind_of_column_becomes_what_it_should(people):
    X, y = people
    made = columns(TableEncoder().fit(X, y), X)
    age = X["age"].fillna(X["age"].median()).to_numpy()
    np.testing.assert_allclose(made["age"], (age - age.mean()) / age.std())
    gaps = X["age"].isna().to_numpy()
    np.testing.assert_allclose(made["missingindicator_age"], gaps - gaps.mean())
    for name, is_one in {
        "smokes": X["smokes"], "grade": X["grade"] == 2, "sex_male": X["sex"] == "male",
        "color_red": X["color"] == "red", "color_nan": X["color"].isna(),
        "size_38.0": X["size"] == 38,
    }.items():  # fmt: skip
        np.testing.assert_allclose(made[name], is_one - is_one.mean(), err_msg=name)
    # ranks become normal scores: order is kept, tails are not
    assert np.array_equal(np.argsort(made["income"]), np.argsort(X["income"]))
    assert np.abs(made["income"]).max() == 3.5
    assert abs(np.median(made["income"])) < 0.02
    days = (X["born"] - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1)
    weekday, seen = X["born"].dt.day_of_week, pd.to_datetime(X["seen"])
    for name, part in {
        "born_days": days, "born_weekday": weekday, "born_hour": X["born"].dt.hour,
        "seen_month": seen.dt.month,
    }.items():  # fmt: skip
        wanted = StandardScaler().fit_transform(part.fillna(part.median()).to_frame().to_numpy())
        np.testing.assert_allclose(made[name], wanted[:, 0], atol=1e-9, err_msg=name)
    assert set(made) >= {"children", "city", "missingindicator_born_days"}
    assert len(made) == 23 and np.isfinite(list(made.values())).all()


def test_tables_of_all_libraries_give_the_same(people):
    X, y = people
    encoder = TableEncoder().fit(X, y)
    wanted = encoder.transform(X)
    forms = {
        "pandas' own types": X.convert_dtypes(),
        "objects": X.astype(object),
        "other types": X.assign(sex=X["sex"].astype("category"), children=X["children"] * 1.0),
        "Arrow": pa.Table.from_pandas(X),
        "real dates": X.assign(seen=pd.to_datetime(X["seen"])),
    }
    try:
        import polars
    except ImportError:
        pass
    else:
        forms["polars"] = polars.from_pandas(X.assign(size=X["size"].astype(int)))
    for name, rows in forms.items():
        assert np.array_equal(encoder.transform(rows), wanted), name
        if name not in ("polars", "Arrow", "objects"):  # where sizes are no categories any more
            again = TableEncoder().fit(rows, y)
            assert np.array_equal(again.transform(X), wanted), name
    cells = X.drop(columns="size").to_numpy(dtype=object)
    unnamed = TableEncoder().fit(cells, y)
    assert np.array_equal(unnamed.transform(cells.tolist()), unnamed.transform(cells))
    kept = [name for name in encoder.get_feature_names_out() if not name.startswith("size")]
    made = columns(encoder, X)
    assert np.array_equal(unnamed.transform(cells), np.column_stack([made[name] for name in kept]))
    texts = X[["age", "sex"]].iloc[20:].to_numpy(dtype=object).astype(str)
    assert [one["kind"] for one in TableEncoder().fit(texts).columns_] == ["number", "text"]


def test_new_rows_are_answered(people):
    X, y = people
    encoder = TableEncoder().fit(X, y)
    row = X.iloc[[20]]
    before = {name: one[0] for name, one in columns(encoder, row).items()}
    strange = row.assign(sex="other", color="mauve", city="Atlantis", size=99)
    made = {name: one[0] for name, one in columns(encoder, strange).items()}
    shares = (X["color"] == "red").mean(), (X["sex"] == "male").mean()
    assert (made["color_red"], made["sex_male"]) == pytest.approx((-shares[0], -shares[1]))
    empty = row.astype(object)
    empty.iloc[:] = None
    made = {name: one[0] for name, one in columns(encoder, empty).items()}
    assert np.isfinite(list(made.values())).all()
    assert made["children"] == pytest.approx(
        (X["children"].median() - X["children"].mean()) / X["children"].std(ddof=0)
    )
    # in any order of columns
    turned = encoder.transform(row[row.columns[::-1]])[0]
    assert turned.tolist() == list(before.values())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda X: X.drop(columns="age"), "yet now missing: 'age'"),
        (lambda X: X.rename(columns={"age": "Age"}), "missing: 'age'.*unseen at fit time: 'Age'"),
        (lambda X: X.assign(age=["40", "old"] * 100), "Row 1 has 'old' in column 'age'"),
        (lambda X: X.assign(age=X["born"]), "Row 6 has .* in column 'age', which held numbers"),
        (lambda X: X.assign(income=np.inf), "Row 0 .*infinite.* in column 'income'"),
        (lambda X: X.assign(born=["2024-02-29", "2024-02-30"] * 100), "Row 1 has '2024-02-30'"),
        (lambda X: X.to_numpy(dtype=object)[:, 1:], "X has 10 features.*expecting 11"),
        (lambda X: X.set_axis(["age", "age", *X.columns[2:]], axis=1), "Two columns.*'age'"),
    ],
)
def test_a_wrong_table_is_refused_by_name(people, change, words):
    encoder = TableEncoder().fit(*people)
    with pytest.raises(ValueError, match=words):
        encoder.transform(change(people[0]))


def test_columns_that_tell_nothing_are_dropped_with_a_word(people):
    X, y = people
    X = X[["age", "city"]].assign(
        row=np.arange(1, 201), key=[f"k{k}" for k in range(200)], same=3.0,
        twin=X["age"], empty=None, year=np.arange(1900, 1900 + 200),
        note=[f"Customer {k % 150} of this year has not paid a bill so far" for k in range(200)],
    )  # fmt: skip
    with pytest.warns(UserWarning, match="'row'.*'key'.*'note'") as told:
        encoder = TableEncoder().fit(X, y)
    assert len(told) == 1 and told[0].filename == __file__
    assert list(encoder.dropped_) == ["row", "key", "same", "twin", "empty", "note"]
    assert [one["done"].startswith("dropped: ") for one in encoder.columns_].count(True) == 6
    names = ["age", "year", "city", "missingindicator_age"]
    assert encoder.get_feature_names_out().tolist() == names
    half = X.iloc[np.random.default_rng(0).permutation(200)[:130]]
    with pytest.warns(UserWarning):
        assert "row" in TableEncoder().fit(half).dropped_
    # what is dropped need not be there
    assert np.array_equal(encoder.transform(X[["age", "year", "city"]]), encoder.transform(X))
    with pytest.raises(ValueError, match="No column of X tells rows apart: 'same'"):
        TableEncoder().fit(X[["same"]])


def test_many_values_are_encoded_without_the_rows_own_target():
    rng = np.random.default_rng(0)
    X = np.array([[f"v{k}"] for k in rng.integers(0, 150, 400)], dtype=object)
    y = rng.normal(size=400)
    encoder = TableEncoder()
    crossed = encoder.fit_transform(X, y)[:, 0]
    assert np.array_equal(crossed, TableEncoder().fit_transform(X, y)[:, 0])
    assert abs(np.corrcoef(crossed, y)[0, 1]) < 0.15
    assert np.corrcoef(encoder.transform(X)[:, 0], y)[0, 1] > 0.4
    # y of three classes has a column for each, and none a column for each frequent value
    three = TableEncoder().fit(X, np.array(["a", "b", "c"])[rng.integers(0, 3, 400)])
    assert three.get_feature_names_out().tolist() == ["x0_a", "x0_b", "x0_c"]
    assert TableEncoder(max_levels=10).fit(X).transform(X).shape[1] == 10
    many_whole = TableEncoder().fit(X, np.arange(400))
    assert many_whole.transform(X).shape[1] == 1


def test_targets_of_every_kind_are_taken_or_refused():
    X = np.array([[f"v{k % 60}"] for k in range(240)], dtype=object)
    alone = np.array(["a"] * 238 + ["b", "c"])  # classes of one row
    with config_context(enable_metadata_routing=True):
        assert TableEncoder().fit_transform(X, alone).shape == (240, 3)
    two_outputs = np.random.default_rng(0).normal(size=(240, 2))
    without = TableEncoder().fit_transform(X)
    assert np.array_equal(TableEncoder().fit_transform(X, two_outputs), without)
    with pytest.raises(ValueError, match="y contains NaN"):
        TableEncoder().fit(X, [None, "a"] * 120)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        TableEncoder().fit(X, alone[1:])


def test_numbers_whose_squares_overflow_become_scores():
    x = np.random.default_rng(0).normal(size=(50, 1)) * 1e200
    made = TableEncoder().fit_transform(x)
    assert np.array_equal(np.argsort(made, axis=0), np.argsort(x, axis=0))
    assert np.abs(made).max() == 3.5


def test_pieces_stand_beside_their_numbers(people):
    X, y = people
    encoder = TableEncoder(pieces=5).fit(X[["age", "income", "grade"]], y)
    made = columns(encoder, X[["age", "income", "grade"]])
    hats = np.array([[made[f"{name}_sp_{k}"] for k in range(5)] for name in ("age", "income")])
    np.testing.assert_allclose(hats.sum(axis=1), 1.0)
    assert "grade_sp_0" not in made


def test_csr_rows_stay_csr():
    rng = np.random.default_rng(0)
    X = rng.integers(-3, 4, (50, 6)) * (rng.random((50, 6)) < 0.3) * 1.0
    X[:, 2] = 0
    X = csr_matrix(X)
    encoder = TableEncoder().fit(X)
    made = encoder.transform(X)
    assert isinstance(made, csr_matrix) and made.shape == (50, 5)
    dense = np.delete(X.toarray(), 2, axis=1)
    np.testing.assert_allclose(made.toarray(), dense / np.abs(dense).max(axis=0))
    assert encoder.get_feature_names_out().tolist() == ["x0", "x1", "x3", "x4", "x5"]
    centered = TableEncoder().fit(X.toarray())
    assert np.array_equal(centered.transform(X), centered.transform(X.toarray()))


def test_it_is_a_transformer_as_others_are(people):
    X, y = people
    encoder = TableEncoder(max_levels=5, random_state=3)
    made = clone(encoder).set_output(transform="pandas").fit_transform(X.set_index(X.index + 7), y)
    assert made.index[0] == 7 and made.columns[0] == "age"
    encoder.fit(X, y)
    again = pickle.loads(pickle.dumps(encoder))
    assert np.array_equal(again.transform(X), encoder.transform(X))
    clash = X[["sex"]].assign(sex_male=X["age"].to_numpy())
    assert len(set(TableEncoder().fit(clash).get_feature_names_out())) == 3


def test_what_stands_in_a_dropped_column_does_not_matter():
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0, 5.0], "same": 7.0})
    encoder = TableEncoder().fit(X)
    wanted = encoder.transform(X)
    assert np.array_equal(encoder.transform(X.assign(same="seven")), wanted)


@pytest.mark.parametrize("pieces", [1, 1001, 10**9, 2**63])
def test_pieces_out_of_range_are_refused(pieces):
    with pytest.raises(ValueError, match=r"'pieces' parameter .* in the range \[2, 1000\]"):
        TableEncoder(pieces=pieces).fit(np.arange(40.0).reshape(20, 2))
