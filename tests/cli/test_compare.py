"""``nearlinear compare``: one table; what we lose is told as plainly as what we lead."""

import json
from dataclasses import replace

import numpy as np
import pytest
from cli.raw import LINEAR, raw_frame, raw_table
from grids import in_one_test
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from small_predictors import additive

from nearlinear import TableEncoder
from nearlinear.cli import main
from nearlinear.cli.comparing import comparison as comparing
from nearlinear.cli.comparing import measure as measuring
from nearlinear.cli.comparing.comparison import Comparison, comparison_table, verdict
from nearlinear.cli.comparing.contenders import contenders
from nearlinear.cli.comparing.measure import Measurement, Split
from nearlinear.search.candidates import Additive, Shape


@pytest.fixture
def quickly(monkeypatch):
    """Two alternatives, each timed once."""
    monkeypatch.setattr(measuring, "_PREDICT_SECONDS", 0.0)
    monkeypatch.setattr(measuring._median_seconds, "__defaults__", (0.0,))
    two = ("linear", "decision tree")
    monkeypatch.setattr(
        comparing, "contenders",
        lambda *shape: [one for one in contenders(*shape) if one.name in two],
    )  # fmt: skip


@pytest.mark.filterwarnings("ignore:TableEncoder drops:UserWarning")
def test_all_see_the_same_rows(tmp_path, capsys, quickly):
    data = raw_table(tmp_path)
    words = ["compare", str(data), "--target", "heavy", *LINEAR, "--json"]
    assert main([*words, "--picture", str(tmp_path / "front.png")]) == 0
    captured = capsys.readouterr()
    found = json.loads(captured.out)
    names = [one["name"] for one in found["models"] if one["name"] != "nearlinear, knee"]
    assert names == ["nearlinear", "linear", "decision tree"]
    assert (tmp_path / "front.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"

    import pandas
    from sklearn.linear_model import LogisticRegression

    frame = pandas.read_csv(data)
    X, y = frame.drop(columns="heavy"), frame["heavy"].to_numpy()
    parts = train_test_split(X, y, test_size=0.25, stratify=y, random_state=0)
    encoder = TableEncoder()
    Z = encoder.fit_transform(parts[0], parts[2]).astype(np.float32)
    linear = LogisticRegression(max_iter=1000).fit(Z, parts[2])
    said = linear.predict_proba(encoder.transform(parts[1]).astype(np.float32))
    measured = next(one for one in found["models"] if one["name"] == "linear")
    assert measured["loss"] == pytest.approx(log_loss(parts[3], said), rel=1e-5)


def measurement(name, gains, ours=False):
    loss = {"worse": 0.5, "better": 0.125}.get(name, 0.25)
    return Measurement(name, ours, np.array(gains, dtype=float), loss, 12.5, 125.0, 2_500, 1.234)


def comparison():
    rows = [
        measurement("nearlinear", [1, 1, 1, 0, 1, 1, 1, 1], ours=True),
        measurement("worse", [0, 0, 1, 0, 0, 1, 1, 1]),
        measurement("alike", [1, 1, 1, 0, 1, 1, 1, 1]),
        measurement("better", [1, 1, 1, 1, 1, 1, 1, 1]),
    ]

    class Searched:
        record_ = [{"model": "anchors", "is_chosen": True}]

    none = np.zeros((8, 1))
    split = Split(none, none[:, 0], none, none[:, 0], is_regression=False)
    return Comparison(Searched, Searched, split, rows)


def test_the_table_puts_ours_above_the_line_and_the_best_first():
    header, _, ours, _, *others = comparison_table(comparison()).splitlines()
    assert [line.split()[0] for line in others] == ["better", "alike", "worse"]
    assert ours.split() == ["nearlinear", "87.50", "0.2500", "12.5", "125", "2.5", "kB", "1.23"]
    assert others[0].split()[3:6] == ["-12.50", "±", "12.50"]
    assert header.split()[:3] == ["model", "accuracy,", "%"]


def test_leads_and_losses_are_told():
    told = verdict(comparison())
    assert told.splitlines()[0] == "nearlinear: anchors"
    assert "ahead of worse; level with alike, better." in told
    assert told.endswith(
        "By log loss, ours is number 2 of 4, level with alike; the least is 0.1250, of better."
    )
    rows = comparison().rows
    assert rows[0].lead_over(rows[1]) == pytest.approx((0.375, np.sqrt(0.375 * 0.625 / 7)))


def test_what_shows_no_difference_is_level():
    """Rows that are told alike but for rounding have a lead beyond its own tiny error."""
    gains = np.linspace(0.5, 1.0, 8)
    found = comparison()
    rows = [measurement("nearlinear", gains + 1e-9, ours=True), measurement("alike", gains)]
    split = replace(found.split, is_regression=True)
    told = verdict(replace(found, rows=rows, split=split))
    assert "ours is level with alike." in told
    told = verdict(replace(found, rows=rows))
    assert told.endswith("By log loss, ours is number 1 of 2, level with alike.")


def test_a_lead_that_is_shown_as_its_error_is_level():
    """One more right row of 150 leads by 0.67 ± 0.67, whatever the digits after these are."""
    gains = np.zeros(150)
    for more in (1.0, 1.0001):
        first = np.where(np.arange(150) == 7, more, gains)
        rows = [measurement("nearlinear", first, ours=True), measurement("alike", gains)]
        found = replace(comparison(), rows=rows)
        assert "+0.67 ± 0.67" in comparison_table(found)
        assert "ours is level with alike." in verdict(found)
    lead = [*np.ones(2), *np.zeros(148)] + 1e-6 * np.arange(150)
    rows = [measurement("nearlinear", lead, ours=True), measurement("worse", gains)]
    assert "ahead of worse." in verdict(replace(comparison(), rows=rows))


def test_a_linear_model_has_the_same_bytes_everywhere():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3)).astype(np.float32)
    values = np.column_stack([X[:, 0], X[:, 1]]).astype(np.float32)
    for is_regression, y in ((False, X[:, 0] > 0), (True, X[:, 0])):
        (linear,) = (one for one in contenders(is_regression, 60, 0) if one.name == "linear")
        found = linear.count_bytes(linear.model.fit(X, y))
        ours = additive(3, dtype=linear.model.coef_.dtype, counts=(0,))
        n_bytes = Additive(C=1.0).cost(Shape(60, 3, 1, not is_regression)).n_bytes
        assert found == ours.cost.n_bytes == 4 * ours.dtype.itemsize
        assert n_bytes == additive(3, dtype=np.float32, counts=(0,)).cost.n_bytes
    assert linear.count_bytes(linear.model.fit(X, values)) == 2 * found


@in_one_test(
    ("words", "sentence"),
    [
        (["--test-share", "1"], "--test-share"),
        (["--picture", "front.docx"], "ends in .png"),
        (["--target", "tag"], "column 'tag': it holds 90 different classes in 90 rows"),
    ],
)
def test_what_cannot_be_compared_is_one_sentence(tmp_path, refused_command, words, sentence):
    raw_frame().to_csv(tmp_path / "raw.csv", index=False)
    line = refused_command("compare", tmp_path / "raw.csv", "--target", "heavy", "--json", *words)
    assert sentence in line


@pytest.mark.parametrize("is_regression", [False, True])
def test_every_alternative_is_measured(is_regression):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3)).astype(np.float32)
    y = X[:, 0] if is_regression else (X[:, 0] > 0).astype(int)
    split = Split(X, y, X, y, is_regression)
    for contender in contenders(is_regression, len(y), 0):
        if contender.name in ("CatBoost", "MLP"):  # they take seconds
            continue
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(measuring, "_PREDICT_SECONDS", 0.0)
            patch.setattr(measuring._median_seconds, "__defaults__", (0.0,))
            found = measuring.measure(contender, split)
        assert found.score > 0.4, contender.name
        assert found.n_bytes > 0
        assert (found.loss is None) == (contender.name == "RBF-SVM" and not is_regression)
