"""A paper of two methods and two small data sets."""

import pytest
from sklearn.linear_model import Ridge
from sklearn.svm import SVC, LinearSVC

from reproduce import datasets
from reproduce.study import Study

CONFIG = """
seeds = 3
[datasets]
sines = { scaling = "standard" }
digits = { scaling = "global", seeds = 2, tune_rows = 100 }
friedman = { scaling = "standard", task = "regression" }
[methods.linear]
common = { C = 1.0, tol = 0.01 }
grid = { C = [0.001, 1.0] }
common_for = { digits = { tol = 0.1 } }
grid_for = { digits = { C = [0.1] } }
chosen = { digits = { C = 0.5 } }
[methods.kernel]
common = { C = 10.0, class_weight = "none" }
grid = { gamma = [1000.0, 1.0] }
tune_rows = 90
skip = { digits = "too slow" }
test_rows = { sines = 20 }
[methods.ridge]
common = {}
grid = { alpha = [1e4, 1.0] }
[smoke]
linear = { C = 1.0 }
kernel = { gamma = 1.0 }
ridge = {}
[[claims]]
first = "kernel"
second = "linear"
"""
EXPECTED = "quantity,method,dataset,value,spread\naccuracy,kernel,sines,90.0,0.5\n"
SPLITS = {"sines": datasets.sines, "digits": datasets.digits, "friedman": datasets.friedman}


@pytest.fixture
def study(tmp_path, monkeypatch):
    """Its data sets are drawn by seed."""
    (tmp_path / "config.toml").write_text(CONFIG)
    (tmp_path / "expected.csv").write_text(EXPECTED)
    monkeypatch.setattr(
        datasets, "load", lambda name, seed, scaling, train_rows: SPLITS[name](80, 40, seed)
    )
    return Study(
        folder=tmp_path,
        makers={"linear": LinearSVC, "kernel": SVC},
        regressors={"ridge": Ridge},
        titles={"linear": "Linear SVM", "kernel": "RBF-SVM", "ridge": "Ridge", "other": "Other"},
        deterministic=frozenset({"linear"}),
        measured=("accuracy", "mse", "fit_seconds", "times_linear", "n_test", "version"),
    )
