"""Rows of a study: which methods, which seeds, and what counts as having learned something."""

import pytest

from reproduce import datasets, running
from reproduce.protocol import RowStore


def run(study, *arguments):
    written = []
    status = running.main(
        study,
        written.append,
        lambda: [datasets.sines(60, 40), datasets.friedman()],
        written.append,
        [*arguments, "--results", str(study.folder)],
    )
    return status, written


def test_every_method_is_run_on_the_sets_of_its_task(study):
    status, written = run(study)
    rows = RowStore(study.folder / "rows.csv", study.measured).rows()
    assert status == 0
    assert written == [study.folder]
    assert {(row["dataset"], row["method"], row["seed"]) for row in rows} == {
        ("sines", "linear", 0),
        *(("sines", "kernel", seed) for seed in range(3)),
        ("digits", "linear", 0),
        *(("friedman", "ridge", seed) for seed in range(3)),
    }
    assert {row["n_test"] for row in rows if row["method"] == "kernel"} == {20}


def test_a_method_that_is_skipped_is_named_with_its_reason(study, capsys):
    run(study, "--dataset", "digits", "--method", "kernel")
    assert "digits   kernel        not run: too slow" in capsys.readouterr().out


def test_smoke_writes_tables_and_figures_elsewhere(study):
    status, written = run(study, "--smoke")
    assert status == 0
    assert len(set(written)) == 1
    assert not (study.folder / "rows.csv").exists()


def test_a_study_may_have_no_figures(study):
    written = []
    status = running.main(
        study, written.append, lambda: [datasets.sines(60, 40)], arguments=["--smoke"]
    )
    assert status == 0
    assert len(written) == 1


def test_smoke_fails_where_a_method_has_learned_nothing(study):
    study.config["smoke"]["ridge"] = {"alpha": 1e6}
    with pytest.raises(SystemExit, match=r"guessing: ridge on friedman: MSE \d"):
        run(study, "--smoke")


@pytest.mark.parametrize(("accuracy", "weak"), [(66.0, True), (67.0, False)])
def test_a_third_of_the_way_from_guessing_is_enough(accuracy, weak):
    assert running.is_weak({"accuracy": accuracy}, datasets.sines(10, 10)) == weak
