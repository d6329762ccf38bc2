"""Where the seed draws the split, no seed is tested on rows that its parameters were chosen on."""

import csv
from dataclasses import replace

import numpy as np
import pytest

from reproduce import datasets, per_seed, tuning
from reproduce.mllkm import large
from reproduce.protocol import RowStore
from reproduce.split import Split, divide

N_SEEDS = 3


def numbered_rows(name, seed, scaling="standard", train_rows=None):
    """Parts drawn by the seed from the same rows; the last feature is the number of a row."""
    part = datasets.sines(60, 30)
    X = np.concatenate([part.X_train, part.X_test])
    X = np.column_stack([X, np.arange(len(X))]).astype(np.float32)
    y = np.concatenate([part.y_train, part.y_test])
    X_train, X_test, y_train, y_test = divide(X, y, seed, train_size=120)
    return Split(name, X_train, y_train, X_test, y_test)


@pytest.fixture
def tuned_rows(monkeypatch):
    """Of every candidate that was tried: the seed of its split and the numbers of its rows."""
    seen = []

    def try_candidate(study, method, parameters, part, seed):
        rows = np.concatenate([part.X_train, part.X_test])[:, -1].astype(int)
        seen.append((part.seed, set(rows)))
        return {"accuracy": 90.0, "fit_seconds": 1.0, "n_test": len(part.y_test)}

    monkeypatch.setattr(datasets, "load", numbered_rows)
    monkeypatch.setattr(tuning, "try_candidate", try_candidate)
    return seen


def assert_no_test_row_was_tuned_on(seen, dataset):
    for seed in range(N_SEEDS):
        test = set(numbered_rows(dataset, seed).X_test[:, -1].astype(int))
        used = [rows for tuned_on, rows in seen if tuned_on == seed]
        assert used, f"seed {seed} has no choice of its own"
        assert not any(rows & test for rows in used)


def test_every_seed_chooses_on_its_own_training_rows(study, tuned_rows, monkeypatch):
    study.config["datasets"]["banana"] = {"scaling": "standard", "tune_repeats": 2}
    study.config["methods"]["linear"]["chosen"]["banana"] = {"C": 1.0}
    per_seed.run_dataset(study, study.folder, "banana", ["linear", "kernel"], N_SEEDS)
    assert_no_test_row_was_tuned_on(tuned_rows, "banana")
    rows = RowStore(study.folder / per_seed.ANEW, study.measured).rows()
    assert [(row["method"], row["seed"]) for row in rows] == [("linear", s) for s in range(N_SEEDS)]


def test_so_it_is_on_the_larger_sets_of_mllkm(tmp_path, tuned_rows, monkeypatch):
    monkeypatch.setattr(large, "in_fresh_process", large.measure)
    config = large.STUDY.config
    entry = {"common": {"gamma": 1.0}, "grid": {"C": [1.0, 10.0]}}
    monkeypatch.setitem(config["methods"], "kernel", entry)
    large.run_dataset(tmp_path, "magic04", ["kernel"], N_SEEDS)
    assert_no_test_row_was_tuned_on(tuned_rows, "magic04")


def test_candidates_of_another_seed_are_not_taken_for_this_one(study):
    store = tuning.per_seed_store(study, study.folder / per_seed.TUNING)
    for seed in range(2):
        split = study.load_split("sines", seed)
        tuning.tune(study, split, "kernel", {"gamma": [1.0]}, store)
    assert [row["tuned_on"] for row in store.rows()] == [0, 1]


def test_only_the_better_candidates_see_every_held_out_part(study):
    store = tuning.per_seed_store(study, study.folder / per_seed.TUNING)
    split, grid = study.load_split("sines", 0), {"gamma": [1000.0, 300.0, 1.0]}
    values, _ = tuning.tune(study, split, "kernel", grid, store, repeats=3, finalists=1)
    assert values == {"gamma": 1.0}
    assert [row["seed"] for row in store.rows()] == [0, 0, 0, 1, 2]


def test_both_figures_stand_side_by_side(study):
    stores = [
        RowStore(study.folder / name, study.measured) for name in (per_seed.ONCE, per_seed.ANEW)
    ]
    fixed = study.parameters_for("kernel", "sines")
    for store, C, accuracies in zip(stores, (10.0, 3.0), ((90.0, 92.0), (89.0, 90.0, 99.0))):
        for seed, accuracy in enumerate(accuracies):
            key = {"dataset": "sines", "method": "kernel", "seed": seed}
            key["parameters"] = fixed | {"C": C + seed * (C == 3.0)}
            store.get_or_add(key, lambda accuracy=accuracy: {"accuracy": accuracy, "n_test": 20})
    per_seed.write_table(study, study.folder)
    with open(study.folder / "per_seed.csv", newline="") as file:
        (line,) = csv.DictReader(file)
    found = [line[name] for name in ("seeds", "once", "measured", "difference", "paper")]
    assert found == ["2", "91", "89.5", "-1.5", "90"]
    assert line["choices"] == "C 3.0 (1), 4.0 (1)"
    text = (study.folder / "per_seed.md").read_text(encoding="utf-8")
    assert "tuned on seed 0 | tuned per seed" in text


def test_a_choice_that_two_ways_agree_on_is_fitted_once(study, monkeypatch):
    fits = []
    monkeypatch.setattr(
        per_seed,
        "run_method",
        lambda study, store, method, parameters, *rest: store.get_or_add(
            {"dataset": "sines", "method": method, "seed": 0, "parameters": parameters},
            lambda: fits.append(parameters) or {"accuracy": 90.0, "n_test": 20},
        )[0],
    )
    stores = [
        RowStore(study.folder / name, study.measured) for name in (per_seed.ONCE, per_seed.ANEW)
    ]
    split = replace(study.load_split("sines", 0), seed=0)
    per_seed.fit_both(study, [(store, {"C": 1.0}) for store in stores], "linear", split, 0)
    assert len(fits) == 1
    assert len(stores[1].rows()) == 1
