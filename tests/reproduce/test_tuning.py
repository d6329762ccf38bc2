"""Parameters are chosen on validation rows of the training part: grids, folds and each seed."""

import csv
from dataclasses import replace

import numpy as np
import pytest
from sklearn.model_selection import ParameterGrid, RepeatedStratifiedKFold, cross_val_score
from sklearn.svm import SVC

from nearlinear import LLSVMClassifier
from reproduce import datasets, per_seed, tuning
from reproduce.inner_search import chosen_by_folds, fewest_kernels
from reproduce.mllkm import large
from reproduce.protocol import RowStore, measure
from reproduce.split import Split, divide


@pytest.fixture(scope="module")
def split():
    return datasets.sines(60, 40)


def test_the_best_of_the_folds_is_taken(split):
    gammas = [1e-4, 1.0, 1e4]
    search = chosen_by_folds(SVC(), {"gamma": gammas}).fit(split.X_train, split.y_train)
    scores = [
        cross_val_score(SVC(gamma=gamma), split.X_train, split.y_train, cv=5).mean()
        for gamma in gammas
    ]
    assert search.best_index_ == np.argmax(scores)
    assert search.best_estimator_.gamma == gammas[np.argmax(scores)]


def test_one_candidate_needs_no_search():
    model = chosen_by_folds(SVC(), {"gamma": [0.5]})
    assert isinstance(model, SVC)
    assert model.gamma == 0.5


def test_a_part_of_the_rows_chooses_and_all_of_them_train(split):
    search = chosen_by_folds(SVC(), {"gamma": [0.1, 1.0]}, folds=4, max_rows=40)
    sizes = [(len(fit), len(test)) for fit, test in search.cv.split(split.X_train, split.y_train)]
    assert sizes == [(30, 10)] * 4
    search.fit(split.X_train, split.y_train)
    assert search.best_estimator_.shape_fit_[0] == len(split.y_train)


def test_a_row_says_which_candidate_was_chosen(split):
    # More rows than the warm-up has: only the model inside the search is warmed up.
    search = chosen_by_folds(SVC(), {"gamma": [1e-4, 1.0]}, max_rows=100)
    row = measure(search, split)
    assert row["chosen"] == 1
    assert row["n_support"] == len(search.best_estimator_.support_)
    assert np.isnan(measure(SVC(), split)["chosen"])


def test_several_parameters_are_chosen_over_repeated_folds(split):
    grid = {"gamma": [1e-4, 1.0], "C": [1e-3, 10.0]}
    search = chosen_by_folds(SVC(), grid, folds=3, repeats=4).fit(split.X_train, split.y_train)
    parts = RepeatedStratifiedKFold(n_splits=3, n_repeats=4, random_state=0)
    scores = [
        cross_val_score(SVC(**candidate), split.X_train, split.y_train, cv=parts).mean()
        for candidate in ParameterGrid(grid)
    ]
    assert search.cv_results_["mean_test_score"] == pytest.approx(scores)
    assert search.best_params_ == {"gamma": 1.0, "C": 10.0}


@pytest.mark.parametrize(
    ("margin", "chosen"),
    [
        (0.0, 0),
        (0.5, 2),  # a standard error is 0.04/√4 = 0.02, so 0.89 counts, and of those the smallest
        (1.6, 3),  # 0.868 counts, too
    ],
)
def test_of_nearly_equal_candidates_the_smallest_is_taken(margin, chosen):
    results = {
        "mean_test_accuracy": np.array([0.90, 0.895, 0.895, 0.87, 0.5]),
        "std_test_accuracy": np.array([0.04, 0.2, 0.2, 0.0, 0.0]),
        "mean_test_n_kernels": np.array([30.0, 20.0, 10.0, 5.0, 1.0]),
        **{f"split{part}_test_accuracy": None for part in range(4)},
        **{f"split{part}_test_n_kernels": None for part in range(4)},
    }
    assert fewest_kernels(results, margin) == chosen


def test_of_equally_small_candidates_the_most_accurate_is_taken():
    results = {
        "mean_test_accuracy": np.array([0.90, 0.91, 0.92]),
        "std_test_accuracy": np.array([0.1, 0.1, 0.1]),
        "mean_test_n_kernels": np.array([2.0, 2.0, 4.0]),
        "split0_test_accuracy": None,
    }
    assert fewest_kernels(results, margin=1.0) == 1


def test_a_margin_makes_machines_smaller(split):
    grid = {"n_anchors": [8, 1]}
    machines = [
        chosen_by_folds(LLSVMClassifier(n_neighbors=1, random_state=0), grid, margin=margin)
        for margin in (0.0, 1e6)
    ]
    large, small = (
        machine.fit(split.X_train, split.y_train).best_params_["n_anchors"] for machine in machines
    )
    assert (large, small) == (8, 1)


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


def run(study, capsys, *arguments):
    status = tuning.main(study, [*arguments, "--results", str(study.folder)])
    with open(study.folder / "tuning.csv", newline="") as file:
        return status, list(csv.DictReader(file)), capsys.readouterr().out


def test_the_better_candidate_is_printed_and_both_are_recorded(study, capsys):
    status, rows, out = run(study, capsys, "--dataset", "sines", "--method", "kernel")
    assert status == 0
    assert [row["n_train"] for row in rows] == ["72", "72"]
    assert float(rows[1]["accuracy"]) > float(rows[0]["accuracy"])
    assert out.splitlines()[-1] == "sines = { gamma = 1.0 }"


def test_accuracy_is_that_of_the_held_out_rows(study, capsys):
    _, rows, _ = run(study, capsys, "--dataset", "sines", "--method", "kernel")
    part = study.load_split("sines", seed=0).held_out(seed=0, max_rows=90)
    model = SVC(C=10.0, gamma=1.0).fit(part.X_train, part.y_train)
    expected = 100 * model.score(part.X_test, part.y_test)
    assert float(rows[1]["accuracy"]) == pytest.approx(expected, rel=1e-5)


def test_of_a_regression_the_smallest_error_is_chosen(study, capsys):
    _, rows, out = run(study, capsys, "--dataset", "friedman", "--method", "ridge", "linear")
    assert float(rows[1]["mse"]) < float(rows[0]["mse"])
    assert out.splitlines()[-1] == "friedman = { alpha = 1.0 }"
    assert {row["method"] for row in rows} == {"ridge"}


def test_the_command_line_overrules_grid_rows_and_repeats(study, capsys):
    options = ("--dataset", "digits", "--method", "linear", "--rows", "50", "--repeats", "2")
    _, rows, out = run(study, capsys, *options, "--grid", '{"C": [0.2, 0.4]}')
    assert [(row["seed"], row["n_train"]) for row in rows] == [("0", "40")] * 2 + [("1", "40")] * 2
    assert "C = 0." in out.splitlines()[-1]


def test_none_is_printed_as_the_configuration_writes_it(study, capsys):
    options = ("--dataset", "sines", "--method", "kernel", "--grid")
    _, _, out = run(study, capsys, *options, '{"gamma": [1.0], "class_weight": [null]}')
    assert out.splitlines()[-1] == 'sines = { gamma = 1.0, class_weight = "none" }'


def test_a_second_run_measures_nothing(study, capsys):
    arguments = ("--dataset", "sines", "--method", "linear")
    _, first, _ = run(study, capsys, *arguments)
    _, second, out = run(study, capsys, *arguments)
    assert second == first
    assert len(out.splitlines()) == 2


def test_blocks_of_consecutive_rows_are_held_out_in_turn(study, capsys):
    options = ("--dataset", "sines", "--method", "linear", "--blocks", "--results")
    assert tuning.main(study, [*options, str(study.folder)]) == 0
    with open(study.folder / "tuning_blocks.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert sorted({row["seed"] for row in rows}) == ["0", "1", "2", "3", "4"]
    split = study.load_split("sines", seed=0)
    part = split.held_out_block(1)
    assert (part.X_test == split.X_train[32:64]).all()
    assert len(part.y_train) == 128
