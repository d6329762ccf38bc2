"""A fitted model taken everywhere that a model can go."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
from onnxruntime import InferenceSession

import nearlinear
import nearlinear.runtime
from nearlinear.export.c.source import to_c
from nearlinear.export.onnx.graph import to_onnx

WARNINGS = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wconversion"]


def assert_ships(model, X, folder="."):
    """Files, the runtime, ONNX, C, single rows and explanations give the model's own scores."""
    assert_ships_without_c(model, X, folder)
    assert_ships_to_c(model, X, folder)


def assert_ships_without_c(model, X, folder="."):
    is_classifier = hasattr(model, "decision_function")

    def scores_of(found):
        scores = found.decision_function(X) if is_classifier else found.predict(X)
        return scores.reshape(len(X), -1)

    folder, scores = Path(folder), scores_of(model)
    near = {"rtol": 1e-6, "atol": 1e-6 * np.abs(scores).max()}

    nearlinear.save(model, folder / "model.nlm")
    assert np.array_equal(scores_of(nearlinear.load(folder / "model.nlm")), scores)
    read = nearlinear.runtime.load(folder / "model.nlm")
    np.testing.assert_allclose(scores_of(read), scores, **near)
    assert np.array_equal(np.shape(read.predict(X)), np.shape(model.predict(X)))

    session = InferenceSession(to_onnx(model).SerializeToString())
    (found,) = session.run(["scores" if is_classifier else "variable"], {"X": X})
    np.testing.assert_allclose(found, scores, **near)

    scorer = model.compile()
    np.testing.assert_allclose(scorer.batch(X[:10]), scores[:10], **near)
    np.testing.assert_allclose([scorer.predict(x) for x in X[:10]], model.predict(X[:10]), **near)
    np.testing.assert_allclose(model.explain(X).scores, scores, **near)


def assert_ships_to_c(model, X, folder="."):
    for dtype in ("float32", "int8"):
        written = to_c(model, Path(folder) / dtype, dtype, sample=X)
        run_test_program(written)


def run_test_program(written, options=WARNINGS):
    """Compile what ``to_c`` has written with its test, where there is a compiler, and run it."""
    if shutil.which("gcc") is None:
        return
    program = written.source.with_name("test")
    sources = [str(written.source), str(written.test)]
    subprocess.run(["gcc", *options, "-o", str(program), *sources, "-lm"], check=True)
    subprocess.run([str(program)], check=True, stdout=subprocess.DEVNULL)
