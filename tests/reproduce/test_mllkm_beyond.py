"""The options of MLLKM beyond the paper."""

from dataclasses import replace

import numpy as np
import pytest

from reproduce import datasets
from reproduce.mllkm import beyond
from reproduce.mllkm.beyond import BASE, COLUMNS, OPTIONS, ROWS
from reproduce.protocol import RowStore

MEASURED = {"n_kernels": 10, "gap": 0.001, "fit_seconds": 0.5, "n_train": 146, "version": "0"}


def add_rows(folder, option, dataset, validation, accuracy, **others):
    """One row for every split."""
    store = RowStore(folder / ROWS, COLUMNS)
    for seed, (first, second) in enumerate(zip(validation, accuracy)):
        key = {"dataset": dataset, "method": option, "seed": seed}
        key["parameters"] = BASE | OPTIONS[option] | others
        row = MEASURED | {"validation": first, "accuracy": second}
        store.get_or_add(key, lambda row=row: row)


@pytest.fixture
def folder(tmp_path):
    """Two splits of two sets; one set has another option, too."""
    add_rows(tmp_path, "base", "sonar", (80.0, 82.0), (70.0, 70.0))
    add_rows(tmp_path, "base", "heart", (80.0, 80.0), (75.0, 75.0))
    add_rows(tmp_path, "15 kernels", "sonar", (81.0, 85.0), (70.0, 70.0))
    add_rows(tmp_path, "15 kernels", "heart", (81.0, 81.0), (74.0, 72.0))
    add_rows(tmp_path, "32 centers", "sonar", (60.0, 60.0), (60.0, 60.0))
    return tmp_path


def test_a_difference_is_paired_by_split_and_has_an_error_over_splits(folder):
    cells = beyond.cells_of(folder / ROWS)
    mean, error, corrected = beyond.difference(cells, "15 kernels", "validation")
    # over both sets 1 in the first split and 2 in the second
    assert (mean, error) == pytest.approx((1.5, 0.5))
    assert corrected == pytest.approx(np.sqrt(0.5) * np.sqrt(1 / 2 + 1 / 2))
    assert beyond.difference(cells, "15 kernels", "accuracy")[0] == pytest.approx(-1.0)


def test_an_option_that_lacks_a_set_has_no_difference(folder):
    cells = beyond.cells_of(folder / ROWS)
    assert np.isnan(beyond.difference(cells, "32 centers", "validation")).all()


def test_the_table_shows_gains_and_losses(folder):
    beyond.write(folder)
    text = (folder / "beyond.md").read_text("utf-8")
    row = next(line for line in text.splitlines() if line.startswith("| 15 kernels |"))
    assert row == (
        "| 15 kernels | 83.0 / 70.0<br>10, 0.5 s | 81.0 / 73.0<br>10, 0.5 s "
        "| +1.50 ± 0.50 (0.71) | -1.00 ± 0.50 (0.68) |"
    )
    assert (folder / "beyond.csv").read_text("utf-8").count("\n") == 1 + 5 + 3


def test_rows_of_other_parameters_are_left_out(folder):
    add_rows(folder, "15 kernels", "sonar", (0.0, 0.0), (0.0, 0.0), C=1.0)
    cells = beyond.cells_of(folder / ROWS)
    assert [row["validation"] for row in cells["15 kernels", "sonar"]] == [81.0, 85.0]


def test_held_out_rows_are_training_rows_that_the_model_has_not_seen():
    split = datasets.tumors().cast(np.float64)
    inner = beyond.held_out(split, seed=0)
    assert (len(inner.y_train), len(inner.y_test)) == (66, 34)
    rows = {tuple(row) for row in split.X_train}
    fitted, out = ({tuple(row) for row in part} for part in (inner.X_train, inner.X_test))
    assert fitted | out == rows
    assert not fitted & out


def test_the_test_part_has_no_say_in_the_validation():
    split = datasets.tumors().cast(np.float64)
    turned = replace(split, X_test=-split.X_test, y_test=1 - split.y_test)
    row, other = (beyond.measured("15 kernels", part, seed=0) for part in (split, turned))
    assert row["validation"] == other["validation"] > 80
    assert row["n_kernels"] == other["n_kernels"] <= 15


def test_the_smoke_run_tries_every_option(capsys):
    assert beyond.main(["--smoke"]) == 0
    printed = capsys.readouterr().out
    assert all(f", {option}: " in printed for option in OPTIONS)
