"""MLLKM on larger sets."""

import numpy as np
import pytest

from reproduce import datasets
from reproduce.ldkl.methods import STUDY as LDKL
from reproduce.mllkm import large
from reproduce.mllkm.large import STUDY, TITLES, borrow
from reproduce.protocol import RowStore, measure
from reproduce.tuning import chosen_parameters, per_seed_store

MEASURED = {
    "fit_seconds": 2.0,
    "fit_bytes": 3e6,
    "predict_us_per_row": 0.5,
    "times_linear": 4.0,
    "n_kernels": 10,
    "n_support": 1,
    "model_bytes": 1000,
    "n_train": 14226,
    "n_test": 4794,
}


def add_row(path, seed, accuracy, C):
    key = {"dataset": "magic04", "method": "mllkm", "seed": seed, "parameters": {"C": C}}
    RowStore(path, STUDY.measured).get_or_add(key, lambda: MEASURED | {"accuracy": accuracy})


def test_settings_of_another_study_are_borrowed_and_overruled():
    chosen = LDKL.parameters_for("ldkl", "magic04")
    assert borrow("ldkl", {"as_in": "ldkl", "n_jobs": 2}, "magic04") == chosen | {"n_jobs": 2}
    assert borrow("mllkm", {"C": 1.0}, "magic04") == {"C": 1.0}


@pytest.mark.parametrize("dataset", STUDY.config["datasets"])
def test_every_method_can_be_built_for_every_set(dataset):
    for method in STUDY.methods:
        parameters = STUDY.parameters_for(method, dataset)
        first = {name: values[0] for name, values in STUDY.grid_for(method, dataset).items()}
        assert method in TITLES
        STUDY.build(method, parameters | first, seed=0)


def test_of_several_rows_for_one_seed_the_last_counts(tmp_path):
    path = tmp_path / large.ROWS
    for seed, accuracy, C in ((0, 80.0, 1.0), (1, 84.0, 10.0), (0, 86.0, 10.0)):
        add_row(path, seed, accuracy, C)
    (line,) = large.lines_of(large.latest_rows(path))
    assert (line["measured"], line["seeds"]) == (85.0, 2)
    assert line["fit_megabytes"] == 3.0
    large.write(tmp_path)
    text = (tmp_path / "large.md").read_text("utf-8")
    assert "| MLLKM, Gaussian | 85.00 ± 1.41<br>4.0 ×; 2 s; 3 MB |" in text
    assert "| LDKL | – |" in text


def test_parameters_are_chosen_where_there_is_a_grid(tmp_path, monkeypatch):
    split = datasets.sines(100, 20)
    monkeypatch.setitem(STUDY.config["datasets"], "sines", {"scaling": "standard"})
    entry = {"common": {"n_anchors": 30}, "grid": {"C": [1e-4, 10.0]}}
    monkeypatch.setitem(STUDY.config["methods"], "mllkm", entry)
    store = per_seed_store(STUDY, tmp_path / "tuning.csv")
    assert chosen_parameters(STUDY, split, "mllkm", store) == {"n_anchors": 30, "C": 10.0}
    assert len(store.rows()) == 2
    entry["grid"] = {}
    assert chosen_parameters(STUDY, split, "mllkm", store) == {"n_anchors": 30}


def test_a_fresh_process_measures_the_same():
    split = datasets.sines(40, 30)
    model = STUDY.build("kernel", {"gamma": 1.0}, seed=0)
    there, here = large.in_fresh_process(model, split), measure(model, split)
    assert there["accuracy"] == here["accuracy"]
    assert there["n_support"] == here["n_support"]
    assert np.isfinite(there["fit_bytes"])
