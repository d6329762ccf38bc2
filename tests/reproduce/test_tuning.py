"""Parameters are chosen on held-out training rows, and every candidate is on record."""

import csv

import pytest
from sklearn.svm import SVC

from reproduce import tuning


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
