"""Rows as people have them in JavaScript, cell by cell as Python reads them."""

import numpy as np
import pytest
from js.node import ask, job, needs_node
from runtime import crafted

from nearlinear import runtime
from nearlinear.runtime.columns.readings import UNITS
from nearlinear.runtime.container import to_bytes
from nearlinear.runtime.preparation_rules import FIELDS

pytestmark = needs_node


def file_of(readings, n_features=1):
    """A tree of one leaf that gives back the sum of what is read of the first column."""
    header, arrays = crafted.make("tree of one leaf")
    source = np.arange(n_features, n_features + len(readings))
    weights = np.zeros((1, 1, len(readings) + 1))
    weights[0, 0, :-1] = 1.0
    fields = header["predictor"]["fields"]
    made = (np.zeros((0, len(readings) + 1)), weights, np.zeros(1), source)
    arrays[:] = [np.asarray(array) for array in (*made, np.full(len(readings), -7.0))]
    for number, name in enumerate(("splits", "weights", "intercept")):
        fields[name] = {"$": "array", "number": number}
    source, missing = ({"$": "array", "number": number} for number in (3, 4))
    table = {"source": source, "missing": missing, "readings": readings}
    header["preparation"] = dict.fromkeys(FIELDS) | table
    header["n_features"] = n_features
    return to_bytes(header, arrays)


def in_python(data, cells, path):
    path.write_bytes(data)
    model, found = runtime.load(path), []
    for cell in cells:
        try:
            found.append(float(model.decision_function(np.array([[cell]], dtype=object))[0]))
        except ValueError:
            found.append(None)
    return found


def in_node(data, cells):
    answers = ask([job(data, [[cell]], "decisionFunction") for cell in cells])
    scores = [found["decisionFunction"] for found in answers]
    return [None if isinstance(score, dict) else score[0] for score in scores]


DATES = [
    "2024-05-31", "2024-05-31T16:00", "2024-02-29 23:59:59.123456", "20240531", "2024-W22-5",
    "2024W225", "2024-W53-1", "2020-W53-7", "1969-12-31T23:59:59", "0001-01-01", "9999-12-31T23:59",
    "2024-05-31T16:00Z", "2024-05-31T01:30+05:30", "2024-12-31T23:00-02:00", "1600-03-01",
    "2024-05-31T16", "2024-05-31T160000", "2024-05-31T16:00:00,5", " 2024-05-31 ", "1900-02-28",
    "2023-02-29", "2024-13-01", "2024-05-31T24:00", "31.12.2024", "0001-01-01T00:00+01:00",
    "2024-5-1", "today", "0000-01-01", "", None, 5, True,
]  # fmt: skip


@pytest.mark.parametrize("unit", UNITS)
def test_dates_are_read_as_in_python(unit, tmp_path):
    data = file_of([[0, unit, "other"]])
    assert in_node(data, DATES) == in_python(data, DATES, tmp_path / "model.nlm")


TEXTS = ["red", "", None, "True", True, False, 1, 1.5, "mauve", "ʁed", "toString", "__proto__"]
NUMBERS = [1, 2.5, "1", " 2.5 ", "1e0", "1_0", "0x1", "x", "", None, True, "True", -1, "inf", "nan"]


@pytest.mark.parametrize(
    "categories, cells",
    [(["red", "True", "ʁed"], TEXTS), (["", "red"], TEXTS), ([1, 2.5, 10], NUMBERS)],
)
@pytest.mark.parametrize("unknown", ["other", "refused", "missing"])
def test_categories_are_read_as_in_python(categories, cells, unknown, tmp_path):
    data = file_of([[0, categories, unknown]])
    assert in_node(data, cells) == in_python(data, cells, tmp_path / "model.nlm")


def test_slips_among_numbers_are_missing_as_in_python(tmp_path):
    data, cells = file_of([[0, "number", "other"]]), [*NUMBERS, ".5", "5.", "1e999", "forty", "+2"]
    found = in_node(data, cells)
    assert found == in_python(data, cells, tmp_path / "model.nlm")
    assert (found[cells.index("forty")], found[cells.index("1e999")]) == (-7.0, None)


def test_cells_that_spell_numbers_are_read_as_in_python(tmp_path):
    path = tmp_path / "model.nlm"
    path.write_bytes(crafted.file_of("forest of splits"))  # which takes missing values
    model = runtime.load(path)
    rows = np.array([["0.5", 1, True], [None, "1e-3", "-.5"], [0.25, False, "2"]], dtype=object)
    (found,) = ask([job(path.read_bytes(), rows, "decisionFunction")])
    assert np.allclose(found["decisionFunction"], model.decision_function(rows))


def test_rows_that_are_none_are_refused_in_one_sentence():
    data = crafted.file_of("soft anchors")
    given = {
        "row 1 has 2": [[1, 2, 3], [1, 2]],
        "finite": [[1, None, 3]],
        '"five" in column "x0", where a number belongs': [["five", 1, 2]],
        'has no "x2": give null': [{"x0": 1, "x1": 2}],
        "no array and no object": [5],
    }
    answers = ask([job(data, rows, "predict") for rows in given.values()])
    for words, found in zip(given, answers, strict=True):
        assert words in found["predict"]["error"]
    (found,) = ask([job(data, [{"x0": 1, "x1": 2, "x2": 0.5, "more": "text"}], "predict")])
    assert found["predict"] in (["no"], ["yes"])
