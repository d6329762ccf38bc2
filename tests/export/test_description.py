"""Objects as data and back; and the page that says how, which must know every kind."""

import json
import math
import re
from dataclasses import fields, is_dataclass
from pathlib import Path

import numpy as np
import pytest
from grids import in_one_test
from runtime import crafted
from runtime.crafted import items, make, part, table
from scipy.sparse import csr_array, csr_matrix, issparse

from nearlinear import kernels
from nearlinear.export.description import NotData, describe, restore
from nearlinear.gates.learned import Softmax
from nearlinear.gates.scores import Switches
from nearlinear.kernels.standard import Custom, Precomputed
from nearlinear.kinds import KINDS, STAYS, class_of
from nearlinear.predictors.combined import Exponential
from nearlinear.runtime.container import ModelFileError
from nearlinear.runtime.outcome import EachLabel, LogLoss, Shares
from nearlinear.runtime.rules import PROFILES, RULES

PAGE = Path(__file__).parents[2] / "docs" / "deploy" / "model-file.md"


def same(one, other):
    """Equal in type, value and structure, arrays to the bit."""
    if isinstance(one, np.ndarray):
        return (
            type(one) is type(other) and one.dtype == other.dtype and one.shape == other.shape
        ) and (one.tolist() == other.tolist() or np.array_equal(one, other, equal_nan=True))
    if issparse(one):
        return issparse(other) and same(one.toarray(), other.toarray())
    if type(one) is not type(other):
        return False
    if is_dataclass(one):
        return all(
            same(getattr(one, field.name), getattr(other, field.name)) for field in fields(one)
        )
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    return one == other or (one != one and other != other)


def traveled(value):
    """What is left of a value after its way through JSON."""
    arrays = []
    described = json.loads(json.dumps(describe(value, arrays), allow_nan=False))
    return restore(described, [array.copy() for array in arrays])


@in_one_test("value", [
        None, True, False, 0, -7, 2**70, 0.1, -0.0, 1e-320, math.inf, -math.inf, "", "größe", "$",
        "\x00\ud800", [], [1, [2.5, None]], (), (1, (2, "x")), {}, {"a": [1], 2: {0.5: None}},
        {None: 1, True: 2}, np.arange(6).reshape(2, 3), np.array(3.5), np.zeros((0, 4), np.float32),
        np.array([True, False]), np.array(["a", "bc"]), np.array([1, -1], np.int8),
        np.array([1.5, np.nan]), np.array([3, 60_000], np.uint16), np.array([-2, 9], np.int16),
        np.array([7, 2**32 - 1], np.uint32), np.array([7, 2**62], np.uint64),
        np.array([0.5, 65504.0], np.float16),
    ])  # fmt: skip
def test_values_come_back_as_they_were(value):
    assert same(traveled(value), value)


def test_not_a_number_comes_back():
    assert math.isnan(traveled(math.nan))


@pytest.mark.parametrize("items", [["a", "b"], [1, 2], [0.5, True], ["", None]])
def test_arrays_of_objects_come_back(items):
    value = np.array(items, dtype=object)
    found = traveled(value)
    assert found.dtype == object and found.shape == value.shape
    assert [(type(item), item) for item in found] == [(type(item), item) for item in items]


@in_one_test("value, plain", [
        (np.float64(0.1), 0.1), (np.float32(0.5), 0.5), (np.int32(4), 4), (np.bool_(True), True),
        (np.str_("word"), "word"), (range(3), (0, 1, 2)), ([np.int64(1)], [1]),
        ({np.str_("a"): np.float64(1.5)}, {"a": 1.5}),
    ])  # fmt: skip
def test_scalars_of_numpy_come_back_as_plain_ones(value, plain):
    assert same(traveled(value), plain)


@pytest.mark.parametrize("form", [csr_matrix, csr_array])
def test_sparse_rows_come_back(form):
    rows = form(np.array([[0.0, 1.5, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    found = traveled(rows)
    assert issparse(found) and found.format == "csr"
    assert found.dtype == rows.dtype
    np.testing.assert_array_equal(found.toarray(), rows.toarray())


def test_an_array_that_is_named_twice_is_kept_once():
    shared = np.arange(4.0)
    arrays = []
    described = describe([shared, {"again": shared}, shared.copy()], arrays)
    assert len(arrays) == 2
    first, again, other = restore(described, arrays)
    assert again["again"] is first and other is not first


# --- kinds --------------------------------------------------------------------------------------


def objects_in(description):
    """Descriptions of all objects within one, itself among them."""
    if isinstance(description, dict):
        if description.get("$") == "object":
            yield description
        for value in description.values():
            yield from objects_in(value)
    elif isinstance(description, list):
        for value in description:
            yield from objects_in(value)


@in_one_test("name", crafted.MODELS)
def test_predictors_come_back_as_they_were(name):
    header, arrays = make(name)
    predictor = restore(header["predictor"], arrays)
    assert same(traveled(predictor), predictor)
    again = []
    described = describe(predictor, again)
    assert json.loads(json.dumps(described)) == described
    for found, given in zip(objects_in(described), objects_in(header["predictor"]), strict=True):
        assert found["kind"] == given["kind"]


IN_FILES = set(KINDS) - STAYS
OTHERS = [
    Switches(None, 2),
    Precomputed(1),
    kernels.Conformal((0.5, 1.0), 2.0, "square", True),
    kernels.bank(widths=2, degrees=(2,)),
    kernels.Gaussian(),
    kernels.Absolute(0.5),
    Softmax(),
    LogLoss(),
    Shares(),
    Exponential(None),
    EachLabel(True),
]


@in_one_test("value", OTHERS)
def test_what_stands_in_parameters_and_attributes_comes_back(value):
    assert same(traveled(value), value)


def test_every_kind_is_tried_here():
    models = [*(make(name)[0]["predictor"] for name in crafted.MODELS)]
    models += [header["outcome"] for header, _ in crafted.wrapped()]
    tried = {type(value).__name__ for value in OTHERS} | {
        described["kind"] for model in models for described in objects_in(model)
    }
    assert tried == IN_FILES


@in_one_test("kind", sorted(IN_FILES))
def test_a_kind_is_a_frozen_dataclass_of_that_name(kind):
    cls = class_of(kind)
    assert cls.__name__ == kind
    assert is_dataclass(cls) and cls.__dataclass_params__.frozen


@in_one_test("kind", RULES)
def test_rules_know_the_fields_of_their_kinds(kind):
    assert set(RULES[kind][0]) == {field.name for field in fields(class_of(kind))}


# --- what is no data ----------------------------------------------------------------------------


class Impostor:
    """Not the class of that name in the package."""


Impostor.__name__ = "Linear"


NO_DATA = {
    "built-in": len,
    "function": lambda x: x,
    "object": object(),
    "a name of ours": Impostor(),
    "set": {1, 2},
    "bytes": b"bytes",
    "complex": 1j,
    "kernel of a function": Custom(len),
    "module": np.random,
    "old generator": np.random.RandomState(0),
    "generator": np.random.default_rng(0),
    "class": kernels.Linear,
    "function in a list": [1, (2, len)],
    "function in a dictionary": {"a": len},
    "function as a key": {len: 1},
    "function in an array": np.array([len], dtype=object),
    "set in an array": np.array([{1}], dtype=object),
    "function in a kernel": kernels.Scaled(Custom(len), 2.0),
}


@in_one_test("value", NO_DATA.values())
def test_code_and_foreign_objects_are_not_described(value):
    with pytest.raises(NotData) as found:
        describe(value, [])
    assert "\n" not in str(found.value)
    assert " at 0x" not in str(found.value)


def test_a_class_of_a_users_own_is_not_taken_for_one_of_ours():
    class Gaussian(kernels.Gaussian):
        pass

    with pytest.raises(NotData, match="an object of Gaussian"):
        describe(Gaussian(), [])


# --- what is no description ---------------------------------------------------------------------

LINEAR = part("Linear")
WRONG = [
    {}, {"$": None}, {"$": "code"}, {"$": []}, {"$": "array"}, {"$": "array", "number": True},
    {"$": "array", "number": -1}, {"$": "array", "number": 9}, {"$": "array", "number": 0.0},
    {"$": "array", "number": 0, "as": "|O"}, {"$": "array", "number": 0, "as": []},
    {"$": "tuple"}, {"$": "tuple", "items": 1}, {"$": "dict", "items": [[1]]},
    {"$": "dict", "items": [[[], 1]]}, {"$": "number", "value": "many"}, {"$": "number"},
    {"$": "strings"}, {"$": "strings", "items": 1}, {"$": "objects", "items": 1},
    {"$": "objects", "items": None}, {"$": "object"}, {"$": "object", "kind": "Linear"},
    {"$": "object", "kind": "Linear", "fields": None}, {"$": "object", "kind": 1, "fields": {}},
    {"$": "object", "kind": "Linear", "fields": [1]},
    {"$": "object", "kind": [], "fields": {}}, part("Custom", function="len"), part("object"),
    part("os.system", command="true"), part("Pipeline", steps=[]), part("Linear", more=1),
    part("Gaussian", gamma=1.0), part("Gaussian", gamma="wide", width=1.0),
    part("Gaussian", gamma=-1.0, width=1.0), part("Gaussian", gamma=1.0, width=0),
    part("Polynomial", degree=None, gamma=None, coef0=1.0), part("Scaled", kernel=1, factor=-1.0),
    part("Conformal", anchor=1, gamma=1.0, profile="square", per_feature=False),
    part("Conformal", anchor=["x"], gamma=1.0, profile="square", per_feature=False),
    part("Conformal", anchor=[10**400], gamma=1.0, profile="square", per_feature=False),
    part("Conformal", anchor=[1.0], gamma=1.0, profile=[], per_feature=False),
    part("Conformal", anchor=[1.0], gamma=1.0, profile="round", per_feature=False),
    part("OnColumns", kernel=LINEAR, columns=1), part("Family", kernels=items(), columns="some"),
    part("Family", kernels=items(), columns=[]),
    part("WeightedSum", kernels=items(LINEAR), weights=items()),
    part("WeightedSum", kernels=1, weights=1), part("WeightedSum", kernels=LINEAR, weights=LINEAR),
    part("WeightedSum", kernels=items(LINEAR), weights=items("x")),
]  # fmt: skip


@in_one_test("value", WRONG)
def test_what_is_no_description_is_refused(value):
    for described in (value, [value], items(value), table(a=value)):
        with pytest.raises(ModelFileError):
            restore(described, [np.arange(3.0)])


@in_one_test("shape, data, indices, indptr", [
        ([2, 2], [1.0], [5], [0, 1, 1]), ([2, 2], [1.0], [-1], [0, 1, 1]),
        ([2, 2], [1.0], [0], [0, 1]), ([2, 2], [1.0], [0], [0, 2, 1]),
        ([2, 2], [1.0], [0], [0, 9, 9]), ([2, 2], [1.0], [0, 1], [0, 1, 1]),
        ([-1, 2], [1.0], [0], [0, 1]), ([2], [1.0], [0], [0, 1, 1]), ([2, 2], 1.0, [0], [0, 1, 1]),
        ([2.5, 2], [1.0], [0], [0, 1, 1]), ("22", [1.0], [0], [0, 1, 1]),
        ([2, 10**40], [1.0], [0], [0, 1, 1]), ([10**40, 2], [1.0], [0], [0, 1, 1]),
    ])  # fmt: skip
def test_sparse_rows_that_point_nowhere_are_refused(shape, data, indices, indptr):
    arrays = [np.array(data), np.array(indices, np.int32), np.array(indptr, np.int32)]
    numbers = {name: {"$": "array", "number": k} for k, name in enumerate(CSR)}
    with pytest.raises(ModelFileError):
        restore({"$": "csr", "shape": shape, **numbers}, arrays)


CSR = ("data", "indices", "indptr")


@in_one_test("wrap", [lambda v: [v], items, lambda v: part("Scaled", kernel=v, factor=1.0)])
def test_deep_nesting_is_refused_and_not_followed(wrap):
    value = 1
    for _ in range(400):
        value = wrap(value)
    with pytest.raises(ModelFileError, match="nested too deeply"):
        restore(value, [])


# --- the page -----------------------------------------------------------------------------------


def row_of(kind):
    """The line of the page's tables on a kind."""
    rows = re.findall(rf"^\| `{kind}` \|.*$", PAGE.read_text("utf-8"), re.M)
    assert len(rows) == 1, f"{PAGE.name} has {len(rows)} rows on {kind}"
    return rows[0]


@in_one_test("kind", sorted(IN_FILES))
def test_the_page_on_the_format_has_every_kind_with_its_fields(kind):
    row = row_of(kind)
    assert [field.name for field in fields(class_of(kind)) if f"`{field.name}`" not in row] == []


@in_one_test("mark", ["array", "csr", "tuple", "dict", "number", "strings", "objects"])
def test_the_page_on_the_format_has_every_description(mark):
    assert f'{{"$": "{mark}"' in PAGE.read_text("utf-8")


@in_one_test("key", [*make("forest")[0], "arrays"])
def test_the_page_on_the_format_has_every_key_of_the_header(key):
    assert re.search(rf"^\| `{key}` \|", PAGE.read_text("utf-8"), re.M)


def test_the_page_on_the_format_names_no_kind_that_is_none():
    named = set(re.findall(r"^\| `([A-Z][A-Za-z]+)` \|", PAGE.read_text("utf-8"), re.M))
    assert named == IN_FILES


@pytest.mark.parametrize("profile", PROFILES)
def test_the_page_on_the_format_has_every_profile(profile):
    assert re.search(rf'^\| `"{profile}"` \|', PAGE.read_text("utf-8"), re.M)
