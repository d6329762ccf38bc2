"""Support points and accuracy of the paper on localized kernel learning."""

import pytest

from nearlinear.kernels import Gaussian
from reproduce.datasets import TRAIN_FRACTION
from reproduce.protocol import RowStore
from reproduce.report import current_rows, printed
from reproduce.unified_lkl import tables
from reproduce.unified_lkl.methods import STUDY, three_kernels


def row(method, **measured):
    key = {"dataset": "diabetes", "method": method, "seed": 0}
    key["parameters"] = STUDY.parameters_for(method, "diabetes")
    fixed = {"fit_seconds": 1.0, "n_kernels": 3, "n_train": 576, "n_test": 192, "model_bytes": 1}
    return key, fixed | measured


@pytest.fixture
def cells(tmp_path):
    store = RowStore(tmp_path / "rows.csv", STUDY.measured)
    for key, measured in (
        row("uniform", accuracy=77.0, n_support=288),
        row("uniform_cv", accuracy=78.0, n_support=144, chosen=2),
    ):
        store.get_or_add(key, lambda measured=measured: measured)
    tables.write(tmp_path)
    return current_rows(STUDY, store.path)


def test_support_points_are_a_share_of_the_training_rows(cells):
    lines = tables.quantity_lines(cells, "support_percent", tables.support_percent)
    found = {line["method"]: line for line in lines}
    assert (found["uniform"]["measured"], found["uniform"]["paper"]) == (50.0, 70.0)
    assert found["uniform"]["difference"] == -20.0
    # The same printed number, and the width that was chosen.
    assert (found["uniform_cv"]["measured"], found["uniform_cv"]["paper"]) == (25.0, 70.0)
    assert found["uniform_cv"]["gamma_times_features"] == 0.25
    assert "measured" not in found["swmkl"]


def test_localized_methods_have_a_printed_accuracy_only(cells, tmp_path):
    summary = (tmp_path / "accuracy.md").read_text("utf-8")
    assert "| SwMKL | –<br>(77.0 ± 2.7) |" in summary
    assert "| Uniform | 77.0<br>(–) |" in summary


def test_printed_numbers():
    paper = printed(STUDY)
    assert paper["support_percent", "gmkl", "mushrooms"] == (15.2, 0.2)
    assert paper["accuracy_mwu", "lmkl", "adult"] == (57.4, 5.31)
    assert paper["fit_seconds", "clmkl", "mushrooms"] == (8748.0, 756.0)


def test_widths_are_relative_to_the_number_of_features():
    assert three_kernels(2.0, 8)[2] == Gaussian(gamma=0.25)
    fixed = STUDY.build("gmkl", STUDY.parameters_for("gmkl", "german_numeric"), seed=0)
    assert fixed.kernels == three_kernels(1.0, 24)
    search = STUDY.build("gmkl_cv", STUDY.parameters_for("gmkl_cv", "german_numeric"), seed=0)
    widths = [kernels[2].gamma * 24 for kernels in search.param_grid["kernels"]]
    assert widths == pytest.approx([2.0**power for power in range(-4, 5)])


def test_three_quarters_of_the_rows_train():
    for name, entry in STUDY.config["datasets"].items():
        assert TRAIN_FRACTION[name] == 0.75 or entry["train_rows"] == 0.75 * 768
