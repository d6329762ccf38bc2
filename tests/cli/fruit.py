"""A table of fruit, and the model that the library makes of it."""

import numpy as np
import pandas
from sklearn.datasets import dump_svmlight_file
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from nearlinear.estimators.llc_sapl import LLCSAPLClassifier

NAMES = ["width", "height", "weight"]
METHOD = ["--method", "llcsapl"]
SMALL = {"n_anchors": 6, "n_neighbors": 3, "max_iter": 3}
LABELS = {
    "text": np.array(["apple", "pear, green", "plum"]),
    "whole": np.array([-1, 3, 10]),
    "truth": np.array([False, True]),
}


def rows(labels="text", n_rows=60):
    X = np.random.default_rng(0).normal(5.0, 3.0, (n_rows, 3)).round(9)
    groups = (X[:, 0] > 5.0).astype(int) + (X[:, 1] > X[:, 2])
    if labels == "values":
        return X, (X @ [1.0, -2.0, 0.5]).round(9)
    return X, LABELS[labels][np.minimum(groups, len(LABELS[labels]) - 1)]


def frame_of(X, y, names=NAMES):
    return pandas.DataFrame(X, columns=names).assign(kind=y)


def table(folder, ending=".csv", labels="text"):
    path, (X, y) = folder / f"train{ending}", rows(labels)
    if ending in (".csv", ".tsv"):
        frame_of(X, y).to_csv(path, index=False, sep="\t" if ending == ".tsv" else ",")
    elif ending == ".parquet":
        frame_of(X, y).to_parquet(path, row_group_size=7)
    elif ending == ".npz":
        np.savez(path, X=X, y=y)
    else:
        dump_svmlight_file(X, y, str(path), zero_based=False)
    return str(path)


def settings(**values):
    return [word for name, value in values.items() for word in ("--set", f"{name}={value}")]


def expected_model(labels="text"):
    """What the library makes of the same rows."""
    X, y = rows(labels)
    model = LLCSAPLClassifier(random_state=0, **SMALL)
    return make_pipeline(StandardScaler(), model).fit(X, y)


def assert_same_model(found, expected, named=True):
    X, _ = rows()
    scores = found.decision_function(pandas.DataFrame(X, columns=NAMES) if named else X)
    np.testing.assert_array_equal(scores, expected.decision_function(X))
    assert found.classes_.tolist() == expected.classes_.tolist()
