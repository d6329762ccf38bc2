"""nearlinear.js answers as Python does: fixture files, models of every kind, raw tables."""

import json
from pathlib import Path

import numpy as np
import pytest
from js.node import ask, assert_near, job, needs_node
from runtime import crafted, fuzz

import nearlinear
from nearlinear import NearLinearClassifier, runtime
from nearlinear.runtime.container import to_bytes
from nearlinear.runtime.model import model_of

pytestmark = needs_node
FIXTURES = Path(__file__).parents[1] / "fixtures"
SCORES = json.loads((FIXTURES / "models" / "scores.json").read_text("utf-8"))
QUESTIONS = {
    "decision_function": "decisionFunction", "predict": "predict", "predict_proba": "predictProba"
}  # fmt: skip
ROUNDING = {"float64": 1e-9, "float32": 1e-5}


def file_bytes(model, folder):
    nearlinear.save(model, folder / "model.nlm")
    return (folder / "model.nlm").read_bytes()


def check_answers(found, model, rows, rounding, what):
    """Hold answers against those of the NumPy runtime; what Python refuses, JavaScript refuses."""
    for method, question in QUESTIONS.items():
        try:
            wanted = getattr(model, method)(rows)
        except ValueError:
            assert "error" in found[question], f"{what}, {method}: not refused"
            continue
        assert_near(found[question], wanted, rounding, f"{what}, {method}")


def test_fixture_files_score_as_they_did():
    names = list(SCORES)
    jobs = []
    for name in names:
        told = SCORES[name]
        data = (FIXTURES / "models" / f"{name}.nlm").read_bytes()
        is_single = told["dtype"] == "float32"
        jobs.append(job(data, told["rows"], *QUESTIONS.values(), single=is_single))
    for name, found in zip(names, ask(jobs), strict=True):
        told = SCORES[name]
        for method, wanted in told["runtime"].items():
            question = QUESTIONS[method]
            assert_near(found[question], wanted, ROUNDING[told["dtype"]], f"{name}, {method}")


def test_a_stored_pipeline_scores_as_it_did():
    told = json.loads((FIXTURES / "model.json").read_text("utf-8"))
    path = FIXTURES / "model.nlm"
    rows = np.array(told["rows"])
    (found,) = ask([job(path.read_bytes(), rows, *QUESTIONS.values())])
    check_answers(found, runtime.load(path), rows, 1e-9, "model")


def test_models_of_every_kind_answer_alike():
    rng, dtypes = np.random.default_rng(0), ("float64", "float32")
    made = [
        (name, dtype, crafted.make(name, np.dtype(dtype)))
        for name in crafted.MODELS
        for dtype in dtypes
    ]
    made += [("wrapped", "float64", one) for one in crafted.wrapped()]
    rows = rng.standard_normal((40, crafted.N_FEATURES))
    jobs = [job(to_bytes(*one), rows, *QUESTIONS.values()) for _, _, one in made]
    for (name, dtype, one), found in zip(made, ask(jobs), strict=True):
        check_answers(found, model_of(*one), rows, ROUNDING[dtype], f"{name} in {dtype}")


# Python does not explain files of averaged models.
NOT_TOLD = {"stacked"}


def test_models_of_every_kind_are_taken_apart_alike(tmp_path):
    rows, path = np.random.default_rng(1).standard_normal((12, crafted.N_FEATURES)), tmp_path / "m"
    names = [name for name in crafted.MODELS if name not in NOT_TOLD]
    files = [crafted.file_of(name, without_encoder) for name in names]
    jobs = [job(data, rows, "contributions", "regions") for data in files]
    for name, data, found in zip(names, files, ask(jobs), strict=True):
        path.write_bytes(data)
        told = nearlinear.load(path).explain(rows)
        check_explanation(found["contributions"], told, name)
        if told.active is None:
            assert "has no regions" in found["regions"]["error"]
        elif told.active.ndim == 2 and name != "forest":  # whose trees have paths of two lengths
            # Python fills rows of other lengths by −1
            for one, active, gates in zip(found["regions"], told.active, told.gates, strict=True):
                assert one["component"] == told.component
                assert one["active"] == active[active >= 0].tolist(), name
                assert_near(one["gates"], gates[active >= 0], 1e-9, f"{name}, gates")


def without_encoder(header, arrays):
    if header["method"].startswith("NearLinear"):
        header["parameters"] = crafted.table(encoder=None)


def check_explanation(found, told, what, rounding=1e-9):
    assert not isinstance(found, dict), f"{what}: {found}"
    n_rows, n_outputs = told.intercepts.shape
    parts = told.contributions if told.kernel_shares is None else told.kernel_shares
    values = np.array([one["values"] for one in found]).reshape(n_rows, n_outputs, -1)
    base = np.array([one["base"] for one in found]).reshape(n_rows, n_outputs)
    score = np.array([one["score"] for one in found]).reshape(n_rows, n_outputs)
    size = max(np.abs(parts).max(initial=0.0), np.abs(told.intercepts).max())
    for mine, theirs in ((values, parts), (base, told.intercepts), (score, told.scores)):
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=rounding * size, err_msg=what)
    if told.kernel_shares is None:
        assert found[0]["names"] == list(told.names), what


def test_fits_behind_steps_answer_and_explain_alike(tmp_path):
    rows = np.random.default_rng(3).standard_normal((30, crafted.N_FEATURES))
    coded = np.column_stack([rows[:, 0], np.rint(rows[:, 1]) == 0, rows[:, 2]])
    files = list(fuzz.fitted())
    given = [rows] * (len(files) - 1) + [coded]
    jobs = [
        job(data, some, *QUESTIONS.values(), "contributions", "supportScore")
        for data, some in zip(files, given, strict=True)
    ]
    n_told, path = 0, tmp_path / "model.nlm"
    for data, some, found in zip(files, given, ask(jobs), strict=True):
        path.write_bytes(data)
        check_answers(found, runtime.load(path), some, 1e-9, "a fit")
        model = nearlinear.load(path)
        is_pipeline = hasattr(model, "steps")
        last, steps = (model[-1], model[:-1]) if is_pipeline else (model, None)
        check_explanation(found["contributions"], last.explain(some, preparation=steps), last)
        if hasattr(last, "support_score"):
            known = last.support_score(steps.transform(some) if steps else some)
            assert_near(found["supportScore"], known, 1e-9)
            n_told += 1
        else:
            assert "error" in found["supportScore"]
    assert n_told == 1


def test_raw_tables_answer_and_explain_alike(people, tmp_path):
    """Texts, dates, missing cells and categories that nobody has seen; rows as objects, too."""
    from tables.test_shipping import fitted, strange

    X, y = people
    plans = {"pieces": {"pieces": 5}, "plain": {}}
    models = {name: fitted(X, y, **plan) for name, plan in plans.items()}
    families = ["linear", "local kernels"]
    models["search"] = NearLinearClassifier(families=families, random_state=0).fit(X, y)
    rows = strange(X)
    rows["born"], rows["seen"] = (
        [None if cell is None or cell != cell else str(cell) for cell in rows[name]]
        for name in ("born", "seen")
    )
    cells = [[_shown(cell) for cell in row] for row in rows.to_numpy(dtype=object).tolist()]
    by_name = [dict(zip(X.columns, row, strict=True)) for row in cells]
    jobs, files = [], {name: file_bytes(model, tmp_path) for name, model in models.items()}
    for data in files.values():
        jobs.append(job(data, cells, *QUESTIONS.values(), "contributions", "columns"))
        jobs.append(job(data, by_name, "predict"))
    answers = iter(ask(jobs))
    path = tmp_path / "model.nlm"
    for name, model in models.items():
        found, named = next(answers), next(answers)
        path.write_bytes(files[name])
        rounding = 1e-5 if name == "search" else 1e-9  # its models are in single precision
        check_answers(found, runtime.load(path), np.array(cells, dtype=object), rounding, name)
        assert named["predict"] == found["predict"]
        kinds = {one["name"]: one["kind"] for one in found["columns"]}
        assert (kinds["born"], kinds["color"], kinds["income"]) == ("date", "text", "number")
        if name == "search":
            told = model.explain(rows)
        else:
            told = model[-1].explain(rows, preparation=model[0])
        check_explanation(found["contributions"], told, name, rounding)


def _shown(cell):
    if cell is None or (isinstance(cell, float) and np.isnan(cell)):
        return None
    return cell.item() if isinstance(cell, np.generic) else cell


@pytest.fixture
def people():
    from tables.conftest import people

    return people.__wrapped__()
