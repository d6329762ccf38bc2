"""Readers of forests: what is held against the library, files, and what is refused."""

import importlib.util
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from grids import in_one_test
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from nearlinear.gates.forests.readers import reading, scikit_trees
from nearlinear.gates.forests.readers.reading import read_forest
from nearlinear.gates.forests.readers.record import ForestNotRead, recoded


@pytest.fixture(scope="module")
def rows():
    rng = np.random.RandomState(0)
    X = rng.standard_normal((300, 4))
    X[:, 3] = rng.randint(0, 6, 300)
    return X, ((X[:, 0] > 0.2) ^ (X[:, 3] == 2)).astype(int)


def test_a_wrong_reading_is_told(rows, monkeypatch):
    model = DecisionTreeClassifier(max_depth=4).fit(*rows)
    grown = scikit_trees._grown

    def changed(tree, value, output=0):
        one = grown(tree, value, output)
        return replace(one, threshold=np.nextafter(one.threshold.astype(np.float32), np.float32(9)))

    monkeypatch.setattr(scikit_trees, "_grown", changed)
    with pytest.raises(ForestNotRead, match="other scores than what was read"):
        read_forest(model)  # rows at the thresholds see what is off by a bit
    read_forest(model, rows[0].round(1))  # rows elsewhere do not


def test_made_rows_stand_at_thresholds_and_beside_them(rows):
    forest = read_forest(RandomForestClassifier(5, random_state=0).fit(*rows))
    made = reading._rows_at_thresholds(forest)
    known = forest.gate.thresholds[forest.gate.columns == 0]
    values = made[:, 0][~np.isnan(made[:, 0])]
    for near in (known, np.nextafter(known, np.float32(-9)), np.nextafter(known, np.float32(9))):
        assert np.isin(values, near).mean() > 0.2
    assert 0.05 < np.isnan(made).mean() < 0.15


def test_given_rows_must_have_the_columns_of_the_forest(rows):
    with pytest.raises(ForestNotRead, match="grown on 4 columns"):
        read_forest(DecisionTreeClassifier().fit(*rows), rows[0][:, :3])


def test_categories_become_their_places():
    known = {1: np.array([20, 0, 10])}
    X = np.array([[5.0, 10.0], [6.0, 20.0], [7.0, 3.0], [8.0, 30.0], [9.0, np.nan]])
    np.testing.assert_array_equal(recoded(X, known)[:, 1], [2, 0, np.nan, np.nan, np.nan])
    np.testing.assert_array_equal(recoded(X, known)[:, 0], X[:, 0])


def test_categories_that_were_not_seen_go_where_missing_ones_do(rows):
    X, y = rows[0].copy(), rows[1]
    X[:, 3] *= 7
    model = HistGradientBoostingClassifier(max_iter=5, categorical_features=[3]).fit(X, y)
    new = np.repeat(X[:50], 12, axis=0)
    new[:, 3] = np.tile([*range(0, 42, 5), 600, 601, -3][:12], 50)
    forest = read_forest(model, new)  # compares scores
    assert len(forest.gate.categories) > 0


def fitted(name, **settings):
    def make(X, y):
        library, _, cls = name.partition(".")
        if importlib.util.find_spec(library) is None:
            return None
        return getattr(__import__(library), cls)(**settings).fit(X, y)

    return make


QUIET = {"n_estimators": 2, "n_jobs": 1}
REFUSED = {
    "is no forest that is read": lambda X, y: LogisticRegression().fit(X, y),
    "There is no file": lambda X, y: "no_such_file.txt",
    "is no model file": lambda X, y: __file__,
    "has seen one class": lambda X, y: DecisionTreeClassifier().fit(X, 0 * y),
    "2 columns of labels": lambda X, y: DecisionTreeClassifier().fit(X, np.column_stack([y, y])),
    "starts from another model": lambda X, y: GradientBoostingClassifier(
        n_estimators=1, init=LogisticRegression()
    ).fit(X, y),
    "no whole numbers from 0 on": lambda X, y: HistGradientBoostingClassifier(
        max_iter=1, categorical_features=[3]
    ).fit(X - 0.5, y),
    "linear_tree=True": fitted("lightgbm.LGBMRegressor", linear_tree=True, verbose=-1, **QUIET),
    "zero_as_missing=True": fitted(
        "lightgbm.LGBMRegressor", zero_as_missing=True, verbose=-1, **QUIET
    ),
    "'cross_entropy' makes something": fitted(
        "lightgbm.LGBMRegressor", objective="cross_entropy", verbose=-1, **QUIET
    ),
    "there are no trees in it": fitted("xgboost.XGBRegressor", booster="gblinear", **QUIET),
    "takes 0.0 for missing": fitted("xgboost.XGBRegressor", missing=0.0, **QUIET),
    "'reg:logistic' makes something": fitted(
        "xgboost.XGBRegressor", objective="reg:logistic", **QUIET
    ),
}


@in_one_test("reason", REFUSED)
@pytest.mark.filterwarnings("ignore")
def test_what_is_not_read_is_said_in_a_sentence(reason, rows):
    X = rows[0].copy()
    X[:5, 0] = 0.0
    model = REFUSED[reason](X, rows[1])
    if model is None:  # that library is not installed
        return
    with pytest.raises(ForestNotRead, match=reason) as caught:
        read_forest(model)
    assert "\n" not in str(caught.value)


def test_catboost_splits_of_categories_are_refused(rows):
    catboost = pytest.importorskip("catboost")
    X = rows[0].astype(object)
    X[:, 3] = [f"c{int(value)}" for value in rows[0][:, 3]]
    model = catboost.CatBoostClassifier(
        iterations=4, depth=3, verbose=0, cat_features=[3], allow_writing_files=False
    )
    with pytest.raises(ForestNotRead, match="splits on categories"):
        read_forest(model.fit(X, rows[1]))


def test_files_of_boosters_are_read(rows, tmp_path):
    lightgbm, xgboost = map(pytest.importorskip, ("lightgbm", "xgboost"))
    model = lightgbm.LGBMClassifier(verbose=-1, **QUIET).fit(*rows)
    model.booster_.save_model(tmp_path / "model.txt")
    found = read_forest(tmp_path / "model.txt")
    assert (found.gate.n_trees, found.classes.tolist(), found.link) == (2, [0, 1], "log_loss")
    model = xgboost.XGBClassifier(**QUIET).fit(*rows)
    for name in ("model.json", "model.ubj"):
        model.save_model(tmp_path / name)
        found = read_forest(str(tmp_path / name))
        assert (found.gate.n_trees, found.classes.tolist(), found.link) == (2, [0, 1], "log_loss")


def test_files_of_catboost_are_read(rows, tmp_path):
    catboost = pytest.importorskip("catboost")
    model = catboost.CatBoostClassifier(
        iterations=4, depth=3, verbose=0, allow_writing_files=False
    ).fit(*rows)
    for form in ("cbm", "json"):
        model.save_model(str(tmp_path / form), format=form)
        found = read_forest(tmp_path / form)
        assert (found.gate.n_trees, found.classes.tolist()) == (4, [0, 1])


def test_no_library_is_loaded_before_it_is_needed():
    source = (
        "import sys\n"
        "from nearlinear.gates.forests.readers.reading import read_forest\n"
        "try: read_forest(3)\n"
        "except ValueError: pass\n"
        "print([name for name in ('lightgbm', 'xgboost', 'catboost') if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", source], check=True, capture_output=True)
    assert found.stdout.decode().strip() == "[]"
