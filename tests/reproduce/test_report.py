"""Tables from rows."""

from math import nan

import pytest
from grids import in_one_test

from reproduce import report
from reproduce.protocol import RowStore


@pytest.fixture
def cells(study):
    """Three seeds of a kernel machine, one row of a linear one, and a row of other parameters."""
    store = RowStore(study.folder / "rows.csv", study.measured)
    for seed, accuracy in enumerate((91.0, 92.0, 93.0)):
        _add(store, "kernel", seed, {"C": 10.0, "class_weight": None}, accuracy)
    _add(store, "linear", 0, {"C": 1.0, "tol": 0.01}, 80.0)
    _add(store, "linear", 1, {"C": 7.0, "tol": 0.01}, 99.0)
    return report.current_rows(study, store.path)


def _add(store, method, seed, parameters, accuracy):
    key = {"dataset": "sines", "method": method, "seed": seed, "parameters": parameters}
    measured = {"accuracy": accuracy, "n_test": 20, "version": "1"}
    store.get_or_add(key, lambda: measured)


def test_rows_of_parameters_that_are_no_longer_chosen_do_not_count(cells):
    assert [row["accuracy"] for row in cells["linear", "sines"]] == [80.0]


def test_accuracy_stands_beside_print_with_a_verdict(study, cells):
    value, spread = report.printed(study)["accuracy", "kernel", "sines"]
    line = report.accuracy_line(cells["kernel", "sines"], value, spread)
    assert (line["measured"], line["measured_spread"], line["seeds"]) == (92.0, 1.0, 3)
    assert line["difference"] == 2.0
    assert line["verdict"] == "met"  # p = 0.074
    assert report.cell(line, 1) == "92.0 ± 1.0 **met**<br>(90.0 ± 0.5)"


@pytest.mark.parametrize(("measured", "word"), [(89.5, "yes"), (89.4, "no"), (95.0, "yes")])
def test_print_is_reached_from_one_printed_spread_below_it(measured, word):
    line = report.beside_print([measured], 90.0, 0.5)
    assert report.is_reached(line) == word


def test_what_was_not_run_is_a_dash_beside_print():
    assert report.cell(report.accuracy_line(None, 90.0), 2) == "–<br>(90.00)"
    assert report.cell(report.accuracy_line(None), 2) == "–<br>(–)"


def test_seeds_are_compared_with_the_one_run_of_a_method_that_draws_nothing(study, cells):
    (claim,) = report.claim_lines(study, cells)
    assert claim["claim"] == "RBF-SVM > Linear SVM"
    assert (claim["seeds"], claim["difference"], claim["verdict"]) == (3, 12.0, "holds")


def test_methods_that_draw_are_paired_by_seed(study, cells):
    cells["other", "sines"] = [{"seed": 1, "accuracy": 90.0}]
    test = report.paired_test(study, cells, "sines", "kernel", "other")
    assert (test.n, test.difference) == (1, 2.0)
    assert report.paired_test(study, cells, "digits", "kernel", "other") is None


@in_one_test(("time", "word"), [(8.9, "beaten"), (9.1, "met"), (11.1, "missed")])
def test_a_tenth_of_a_printed_time_is_no_difference(time, word):
    assert report.time_verdict(time, 10.0) == word


def test_saved_tables_leave_out_lines_without_a_measurement(tmp_path):
    lines = [
        {"dataset": "a", "measured": 1.23456, "paper": nan},
        {"dataset": "b", "paper": 2.0},
    ]
    report.save(tmp_path, "table", "Title", lines, "Summary.\n\n")
    assert (tmp_path / "table.csv").read_text() == "dataset,measured,paper\na,1.235,\n"
    assert (tmp_path / "table.md").read_text().startswith("# Title\n\nSummary.\n\n| dataset |")


def test_reasons_for_what_is_not_run_are_listed(study):
    assert report.not_run(study) == "\nNot run:\n\n* RBF-SVM on digits: too slow\n"


def test_parts_of_data_sets_are_listed(study):
    expected = "\nOn a part of the rows:\n\n* RBF-SVM on sines: at most 20 test rows\n"
    assert report.limited_rows(study) == expected
