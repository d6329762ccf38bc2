"""Fits on a real cluster of two processes."""

import os
import pickle
import signal
import subprocess
import sys
from itertools import pairwise

import joblib
import numpy as np
import pytest
from sklearn.base import clone, is_regressor
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV

pytest.importorskip("distributed")

import dask
import dask.array as da
import dask.dataframe as dd
import pandas as pd
from distributed import Client, LocalCluster

from nearlinear import (
    LLSVMClassifier,
    LocalForestClassifier,
    config_context,
    get_config,
    set_config,
    streams,
)
from nearlinear.dask import (
    DaskLDKLClassifier,
    DaskLDKLRegressor,
    DaskLLCSAPLClassifier,
    DaskLocalForestClassifier,
    DaskNearLinearClassifier,
    survey,
    tasks,
)
from nearlinear.dask.base import DaskEstimator
from nearlinear.dask.tasks import Tasks
from nearlinear.estimators._base.checks import require_memory

# rows of a block: a survey keeps one and a half, so that fits here are no gathered ones
BLOCK = 1000


@pytest.fixture(scope="module")
def client():
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    # without our word for it, this cluster gives a task up when one worker has died with it
    strict = dask.config.set({"distributed.scheduler.allowed-failures": 0})
    with strict, LocalCluster(memory_limit=0, **options) as cluster, Client(cluster) as client:
        yield client


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(survey, "usual_rows", lambda *shape: BLOCK)


def rows(n_rows=6000):
    X, y = make_classification(
        n_rows, 8, n_informative=6, n_classes=3, n_clusters_per_class=2, random_state=0
    )
    return X.astype(np.float32), np.array(["one", "three", "two"])[y]


def in_array(X, y, n_chunk=1500):
    return da.from_array(X, chunks=(n_chunk, -1)), da.from_array(y, chunks=n_chunk)


def in_uneven_frame(X, y):
    """A partition without rows, one of a single class, and others."""
    order = np.argsort(y == "one", kind="stable")  # the last rows are of one class
    frame = pd.DataFrame(X[order], columns=[f"x{i}" for i in range(X.shape[1])])
    frame["y"] = y[order]
    bounds = [0, 700, 700, 3100, 4700, len(frame)]
    parts = [frame.iloc[a:b] for a, b in pairwise(bounds)]
    table = dd.from_delayed([dask.delayed(part) for part in parts], meta=frame.iloc[:0])
    return table.drop(columns="y"), table["y"], frame


FOREST = {"n_trees": 6, "max_leaves": 7, "pairs": 0, "leaf_penalty": 3.0}


def test_sums_over_partitions_give_the_model_of_one_process(client):
    X, y, frame = in_uneven_frame(*rows())
    model = DaskLocalForestClassifier(**FOREST, random_state=0, client=client).fit(X, y)
    values = frame.drop(columns="y").to_numpy()
    source = streams.from_arrays(values, frame["y"].to_numpy(), block_rows=BLOCK)
    alone = LocalForestClassifier(**FOREST, random_state=0).fit(source)
    assert np.allclose(model.predictor_(values), alone.predictor_(values), atol=1e-5)
    assert np.array_equal(model.predict(X).compute().to_numpy(), alone.predict(values))
    assert model.score(X, y) == pytest.approx(alone.score(values, frame["y"]))
    assert list(model.to_local().feature_names_in_) == list(X.columns)
    assert model.decision_function(X).compute().shape == (6000, 3)


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        (DaskLLCSAPLClassifier, {"max_iter": 2}),
        (DaskLDKLRegressor, {"depth": 3, "max_iter": 4}),
    ],
)
def test_rounds_come_close_to_one_process(client, kind, settings):
    X, y = rows()
    if is_regressor(kind()):
        y = X[:, 0] * (X[:, 1] > 0)
    model = kind(**settings, random_state=0, partitions_per_round=2, client=client)
    model.fit(*in_array(X, y))
    alone = kind.local_class(**settings, random_state=0)
    alone.fit(streams.from_arrays(X, y, block_rows=BLOCK))
    assert model.to_local().score(X, y) > alone.score(X, y) - 0.03


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        (DaskLDKLClassifier, {"depth": 3, "max_iter": 1}),
        (DaskLocalForestClassifier, FOREST),
    ],
)
def test_killed_worker_changes_nothing(client, monkeypatch, kind, settings):
    X, y = rows()
    model = kind(**settings, random_state=0, partitions_per_round=2, client=client)
    calm = model.fit(*in_array(X, y)).to_local()
    total, calls = tasks.Tasks.total, []

    def killing(*arguments):
        calls.append(None)
        if len(calls) == 4:  # after the survey and two rounds
            os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
        return total(*arguments)

    monkeypatch.setattr(tasks.Tasks, "total", killing)
    killed = clone(model).fit(*in_array(X, y))
    assert len(calls) > 4
    assert np.array_equal(killed.predictor_(X), calm.predictor_(X))


def test_answers_of_arrays_are_those_of_the_local_model(client):
    X, y = rows(4000)
    values = X[:, 0] + X[:, 1] * X[:, 2]
    lazy, targets = in_array(X, values)
    weight = da.from_array(np.where(y == "one", 2.0, 1.0), chunks=1000)
    model = DaskLDKLRegressor(3, max_iter=2, random_state=0, client=client)
    model.fit(lazy, targets, sample_weight=weight)
    local = pickle.loads(pickle.dumps(model)).to_local()
    assert np.allclose(model.predict(lazy).compute(), local.predict(X))
    expected = local.score(X, values, weight.compute())
    assert model.score(lazy, targets, weight) == pytest.approx(expected)
    assert type(model).score is DaskEstimator.score  # that of scikit-learn gathers all values
    assert clone(model).get_params() == model.get_params()
    assert not hasattr(model, "predict_proba")


def test_front_door_tries_its_candidates_on_the_cluster(client):
    X, y, _ = in_uneven_frame(*rows(1500))
    model = DaskNearLinearClassifier(
        families=["anchors"], search_rows=600, random_state=0, client=client
    ).fit(X, y)
    assert model.score(X, y) > 0.6
    assert all(where.startswith(("all rows", "the sample")) for _, where in model.fitted_to_)
    assert {one["model"] for one in model.tried_} == {"linear", "anchors"}


def test_search_of_scikit_learn_runs_on_the_cluster(client):
    X, y = rows(400)
    search = GridSearchCV(LLSVMClassifier(random_state=0), {"n_anchors": [2, 4]}, cv=2, n_jobs=2)
    with joblib.parallel_config("dask"):
        found = search.fit(X, y).best_score_
    assert found == search.set_params(n_jobs=None).fit(X, y).best_score_


def test_bad_input_is_refused_in_one_sentence(client):
    X, y = rows(400)
    model = DaskLDKLClassifier(client=client)
    lazy, labels = in_array(X, y, 100)
    with pytest.raises(ValueError, match=r"2 chunks along its columns.*rechunk"):
        model.fit(lazy.rechunk((100, 4)), labels)
    with pytest.raises(ValueError, match="must be a Dask array or a Dask dataframe"):
        model.fit(X, labels)
    frame = dd.from_pandas(pd.DataFrame(X), npartitions=3)
    with pytest.raises(ValueError, match=r"X has 3 partitions and y has 4.*alike"):
        model.fit(frame, labels)
    with pytest.raises(ValueError, match=r"Partition \d of X has 100 rows, that of y has 200"):
        model.fit(lazy, da.from_array(np.r_[y, y], chunks=200))
    with pytest.raises(ValueError, match="NaN"):
        model.fit(da.where(lazy > 0, lazy, np.nan), labels)


def test_without_dask_it_says_what_to_install():
    source = "import sys; sys.modules['distributed'] = None; import nearlinear.dask"
    found = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True)
    assert "pip install 'nearlinear[dask]'" in found.stderr


def test_a_cluster_without_workers_is_told_and_not_waited_for_forever(monkeypatch):
    monkeypatch.setattr(tasks, "_PATIENCE", 1.0)
    options = {"n_workers": 0, "processes": False, "dashboard_address": ":0"}
    with LocalCluster(**options) as cluster, Client(cluster, set_as_default=False) as lonely:
        model = DaskLDKLClassifier(4, client=lonely)
        with (
            pytest.warns(UserWarning, match="has no workers: this fit waits 1 seconds"),
            pytest.raises(TimeoutError, match="still has no workers after 1 seconds: start some"),
        ):
            model.fit(*in_array(*rows(60), 30))


def test_workers_use_the_smaller_of_their_own_memory_limit_and_that_of_the_client(client):
    def worker_limit():
        return Tasks(client).results(Tasks(client).submit(get_config))["max_memory"]

    assert worker_limit() is None
    client.run(set_config, max_memory=1e6)
    try:
        assert worker_limit() == 1e6
        with config_context(max_memory=1e5):
            assert worker_limit() == 1e5
        with config_context(max_memory=1e7):
            assert worker_limit() == 1e6
    finally:
        client.run(set_config, max_memory=None)
    with config_context(max_memory=1e3), pytest.raises(MemoryError, match="set_config"):
        Tasks(client).results(Tasks(client).submit(require_memory, 2000, "give fewer rows"))
