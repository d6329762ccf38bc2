"""Forests go everywhere: every target leads every row to the same leaves."""

from dataclasses import replace

import numpy as np
import pytest
from forests import FORESTS, forest_and_rows, held, random_forest
from grids import in_one_test
from numpy.testing import assert_allclose, assert_array_equal
from onnxruntime import InferenceSession
from scipy.sparse import csr_matrix
from shipping import assert_ships_to_c, assert_ships_without_c, run_test_program
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import nearlinear
import nearlinear.runtime
from nearlinear.cli import main
from nearlinear.estimators._base.checks import require_finite_model
from nearlinear.export.c.predictors.forests import Splits
from nearlinear.export.c.quantized import quantized
from nearlinear.export.c.source import to_c
from nearlinear.export.onnx.builder import OnnxExportError
from nearlinear.export.onnx.graph import to_onnx
from nearlinear.predictors.combined import Exponential

BOTH = [(name, dtype) for name in FORESTS for dtype in (np.float32, np.float64)]


@in_one_test("name, dtype", BOTH)
def test_forests_ship(name, dtype, tmp_path):
    forest, X = forest_and_rows(name, dtype)
    model = held(forest, is_regression=name in ("three outputs", "pairs"))
    assert_ships_without_c(model, X, tmp_path)
    assert_array_equal(forest.gate(csr_matrix(X)), forest.gate.plain(X))
    assert_allclose(forest(csr_matrix(X)), forest(X), rtol=1e-6, atol=1e-6)
    nearlinear.save(model, tmp_path / "model.nlm")
    found = nearlinear.load(tmp_path / "model.nlm").predictor_
    for part, other in ((found, forest), (found.gate, forest.gate)):
        for field in vars(other):
            if isinstance(getattr(other, field), np.ndarray):
                assert getattr(part, field).dtype == getattr(other, field).dtype
                assert_array_equal(getattr(part, field), getattr(other, field))


@in_one_test("name", ["sets", "slopes", "vector slopes", "three outputs", "one leaf"])
def test_forests_run_in_c(name, tmp_path):
    forest, X = forest_and_rows(name)
    assert_ships_to_c(held(forest), X, tmp_path)


def test_a_forest_in_c_without_a_sample_is_tried_on_rows_around_its_splits(tmp_path):
    forest, _ = forest_and_rows("pairs", np.float64)
    written = to_c(held(forest), tmp_path)
    assert written.largest_score > 0 and written.agreement == 1.0
    run_test_program(written)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_zeros_are_not_below_zero_in_c(dtype, tmp_path):
    forest, X = forest_and_rows("plain", dtype)
    below = np.nextafter(dtype(0), dtype(-1))
    gate = replace(forest.gate, thresholds=np.full_like(forest.gate.thresholds, below))
    X = np.sign(np.trunc(X))
    assert_ships_to_c(held(replace(forest, gate=gate)), X, tmp_path)


def test_infinite_thresholds_part_missing_values_from_all_others(tmp_path):
    forest, X = forest_and_rows("sets")
    ends = np.where(np.arange(len(forest.gate.columns)) % 2, np.inf, -np.inf).astype(np.float32)
    keep = np.random.default_rng(0).random(len(ends)) < 0.5
    thresholds = np.where(keep, forest.gate.thresholds, ends)
    forest = replace(forest, gate=replace(forest.gate, thresholds=thresholds))
    require_finite_model(held(forest), forest)
    assert_array_equal(forest.gate(X), forest.gate.plain(X))
    assert_ships_without_c(held(forest), X, tmp_path)
    assert_ships_to_c(held(forest), X, tmp_path)


# --- the same rounding everywhere ---------------------------------------------------------------


@pytest.fixture(scope="module")
def on_borders():
    """A stump for every row, whose threshold is the row's own pair column.

    If a processor multiplies and adds in one rounding, whichever product it takes, every row falls
    on the other side of its stump.
    """
    rng = np.random.default_rng(1)
    forest = random_forest(rng, 40, 2, 3, pairs=1)
    X = rng.standard_normal((20_000, 3)).astype(np.float32)
    (i, j), factors = forest.gate.pairs[0], forest.gate.factors[0]
    one, two = X[:, i] * factors[0], X[:, j] * factors[1]
    exact = [
        X[:, k].astype(np.float64) * factor for k, factor in ((i, factors[0]), (j, factors[1]))
    ]
    fused = [(exact[0] + two).astype(np.float32), (one + exact[1]).astype(np.float32)]
    X = X[np.minimum(*fused) > one + two][:40]
    assert len(X) == 40
    gate = replace(forest.gate, columns=np.where(forest.gate.columns < 0, -1, 3).astype(np.int32))
    thresholds = np.zeros(len(gate.columns), dtype=np.float32)
    thresholds[gate.starts[:-1]] = gate.all_columns(X)[:, 3]
    return replace(forest, gate=replace(gate, thresholds=thresholds)), X


def test_pair_columns_are_rounded_alike_everywhere(on_borders, tmp_path):
    forest, X = on_borders
    assert_array_equal(forest.gate(X), forest.gate.plain(X))
    assert np.all(np.diagonal(forest.gate(X)) % 2 == 0)
    assert_ships_without_c(held(forest), X, tmp_path)
    written = to_c(held(forest), tmp_path, sample=X)
    run_test_program(written, ["-O3", "-march=native", "-ffp-contract=fast"])


def test_float32_rows_go_the_same_ways_in_a_narrowed_gate(rng):
    forest, X = forest_and_rows("sets", np.float64)
    gate = replace(forest.gate, columns=np.minimum(forest.gate.columns, forest.n_features - 1))
    X = X.astype(np.float32)
    assert_array_equal(gate.in_single()(X), gate(X))
    assert forest.in_precision(np.float64) is forest
    single, _ = forest_and_rows("sets", np.float32)
    assert single.in_precision(np.float64) is single


@in_one_test("dtype", ["float32", "float64"])
def test_a_graph_of_another_precision_keeps_the_leaves(dtype):
    forest, X = forest_and_rows("pairs", np.float32)
    session = InferenceSession(to_onnx(held(forest), dtype=dtype).SerializeToString())
    (found,) = session.run(["scores"], {"X": X.astype(dtype)})
    assert found.dtype == dtype
    assert_allclose(found, forest(X), atol=2e-6)


def test_sets_too_long_for_a_graph_are_refused(monkeypatch):
    forest, _ = forest_and_rows("sets")
    monkeypatch.setattr("nearlinear.export.onnx.forests._MOST_NODES", 200)
    with pytest.raises(OnnxExportError, match="give columns of fewer categories"):
        to_onnx(held(forest))


# --- eight bits ---------------------------------------------------------------------------------


def test_eight_bits_move_values_by_half_a_step_and_no_row(rng):
    forest, X = forest_and_rows("vector")
    shifted = replace(forest, values=forest.values + np.float32(50.0))  # as a first tree may have
    rounded = quantized(shifted)
    assert rounded.gate is shifted.gate
    spans = [np.ptp(shifted.values[a:b], axis=0).max() for a, b in _of_trees(forest.gate)]
    assert np.abs(rounded(X) - shifted(X)).max() <= sum(spans) / 508 + 1e-4
    assert_allclose(quantized(rounded).values, rounded.values, atol=1e-6)


def _of_trees(gate):
    return zip(gate.leaf_starts[:-1], gate.leaf_starts[1:], strict=True)


def test_thresholds_that_repeat_are_stored_once_in_eight_bits(rng, tmp_path):
    forest = random_forest(rng, 8, 200, 5)
    gate = replace(forest.gate, thresholds=np.round(forest.gate.thresholds, 1))
    model, X = held(replace(forest, gate=gate)), rng.standard_normal((50, 5)).astype(np.float32)
    whole, short = (to_c(model, tmp_path / t, t, sample=X) for t in ("float32", "int8"))
    run_test_program(short)
    assert "threshold_numbers" in short.cost.read_text("utf-8")
    # word, number of the threshold, next and value: a byte each
    assert short.table_bytes < 5 * gate.n_leaves < 0.6 * whole.table_bytes


def test_splits_of_any_order_become_level_by_level(rng):
    forest = random_forest(rng, 3, 30, 4)
    gate = forest.gate
    splits = Splits.of(gate)
    assert_array_equal(np.sort(splits.nodes), np.flatnonzero(gate.columns >= 0))
    assert_array_equal(splits.leaves, np.arange(gate.n_leaves))  # gathered trees are in order


# --- what stands before a forest ----------------------------------------------------------------


def test_missing_values_pass_a_scaler(rng, tmp_path):
    forest, X = forest_and_rows("missing", np.float64)
    raw = 3.0 * X + 7.0
    pipe = make_pipeline(StandardScaler().fit(np.nan_to_num(raw)), held(forest))
    expected = pipe.decision_function(raw)
    nearlinear.save(pipe, tmp_path / "model.nlm")
    assert_array_equal(
        nearlinear.runtime.load(tmp_path / "model.nlm").decision_function(raw), expected
    )
    scorer = pipe[-1].compile(pipe[:-1])
    assert_allclose([scorer(x) for x in raw], expected, atol=1e-12)
    session = InferenceSession(to_onnx(pipe).SerializeToString())
    assert_allclose(session.run(["scores"], {"X": raw})[0][:, 0], expected, atol=1e-9)
    run_test_program(to_c(pipe, tmp_path / "c", sample=raw))


def test_values_whose_logarithm_a_forest_tells_ship_with_missing_values(tmp_path, capsys):
    forest, X = forest_and_rows("missing", np.float64)
    model = held(Exponential(forest), is_regression=True)
    expected = model.predict(X)
    assert_allclose(expected, np.exp(forest.plain(X)[:, 0]))
    nearlinear.save(model, tmp_path / "model.nlm")
    assert_array_equal(nearlinear.load(tmp_path / "model.nlm").predict(X), expected)
    assert_array_equal(nearlinear.runtime.load(tmp_path / "model.nlm").predict(X), expected)
    assert_allclose([model.compile()(x) for x in X[:5]], expected[:5])
    session = InferenceSession(to_onnx(model).SerializeToString())
    assert_allclose(session.run(["variable"], {"X": X})[0][:, 0], expected, rtol=1e-9)
    assert_ships_to_c(model, X, tmp_path)
    assert main(["inspect", str(tmp_path / "model.nlm")]) == 0
    assert "6 trees, 20 leaves each, 3 pair columns" in capsys.readouterr().out


def test_infinity_is_refused_in_a_sentence(tmp_path):
    forest, X = forest_and_rows("missing")
    model, scorer = held(forest), held(forest).compile()
    nearlinear.save(model, tmp_path / "model.nlm")
    read = nearlinear.runtime.load(tmp_path / "model.nlm")
    row = X[0].copy()
    row[[1, 2]] = np.nan, np.inf
    with pytest.raises(ValueError, match="Feature 2 of the row is inf: give finite numbers"):
        scorer(row)
    with pytest.raises(ValueError, match="X holds infinity; the model takes finite numbers, and"):
        read.decision_function(row[None])
    with pytest.raises(ValueError, match="Input X contains infinity"):
        model.decision_function(row[None])
    with pytest.raises(ValueError, match="The row has 2 numbers, not 6"):
        scorer(row[:2])
