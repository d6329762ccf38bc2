"""Descriptions become parts; what is no description is refused, whatever it is."""

import math

import numpy as np
import pytest
from grids import in_one_test
from runtime.crafted import items, part, table

from nearlinear.runtime.container import ModelFileError
from nearlinear.runtime.parts import Part, parse

ARRAYS = [np.arange(3.0), np.array([1, 2])]


@in_one_test("value", [None, True, False, 0, -3, 0.5, "", "word", "$"])
def test_values_of_json_stand_for_themselves(value):
    found = parse(value, [])
    assert found == value and type(found) is type(value)


def test_arrays_are_given_by_number():
    assert parse({"$": "array", "number": 1}, ARRAYS) is ARRAYS[1]


@pytest.mark.parametrize("dtype", [np.int16, np.uint16, np.uint32, np.uint64])
def test_labels_of_narrow_types_are_given_back_as_such(dtype):
    kept = np.dtype(dtype).newbyteorder("<").str
    found = parse({"$": "array", "number": 1, "as": kept}, ARRAYS)
    np.testing.assert_array_equal(found, np.array([1, 2], dtype=dtype), strict=True)


@in_one_test("kept", ["|O", "<U4", "<M8[s]", "V8", "", 1, True, [], {}, "<c8", "i2"])
def test_arrays_are_not_given_back_as_anything(kept):
    with pytest.raises(ModelFileError):
        parse({"$": "array", "number": 1, "as": kept}, ARRAYS)


def test_lists_tuples_and_dictionaries_hold_descriptions():
    described = [items(1, {"$": "array", "number": 0}), table(a=items(), b=None)]
    (one, array), found = parse(described, ARRAYS)
    assert one == 1 and array is ARRAYS[0]
    assert found == {"a": (), "b": None}


def test_keys_of_a_dictionary_may_be_numbers():
    found = parse({"$": "dict", "items": [[1, "one"], [0.5, "half"], [None, "none"]]}, [])
    assert found == {1: "one", 0.5: "half", None: "none"}


def test_numbers_that_json_does_not_have_are_named():
    found = [parse({"$": "number", "value": name}, []) for name in ("inf", "-inf", "nan")]
    assert found[:2] == [math.inf, -math.inf] and math.isnan(found[2])


@pytest.mark.parametrize("mark", ["strings", "objects"])
def test_labels_are_lists(mark):
    assert parse({"$": mark, "items": ["a", "ü", ""]}, []) == ["a", "ü", ""]


def test_objects_are_parts_of_a_kind():
    found = parse(part("Scaled", kernel=part("Linear"), factor=2.0), [])
    assert isinstance(found, Part)
    assert (found.kind, found.factor, found.kernel.kind) == ("Scaled", 2.0, "Linear")


def test_sparse_rows_are_a_part_of_their_own():
    arrays = [np.array([0.5]), np.array([1]), np.array([0, 1])]
    numbers = {name: k for k, name in enumerate(("data", "indices", "indptr"))}
    fields = {name: {"$": "array", "number": k} for name, k in numbers.items()}
    found = parse({"$": "csr", "shape": [1, 2], **fields}, arrays)
    assert (found.kind, found.shape) == ("csr", [1, 2])
    assert found.indices is arrays[1]


WRONG = [
    {}, {"$": None}, {"$": 1}, {"$": []}, {"$": {}}, {"$": "Array", "number": 0}, {"$": "code"},
    {"number": 0}, {"$": "array"}, {"$": "tuple"}, {"$": "tuple", "items": 3},
    {"$": "tuple", "items": None}, {"$": "dict"}, {"$": "dict", "items": [1]},
    {"$": "dict", "items": [[1]]}, {"$": "dict", "items": [[1, 2, 3]]},
    {"$": "dict", "items": [[[], 1]]}, {"$": "dict", "items": [[{}, 1]]},
    {"$": "dict", "items": [[part("Linear"), 1]]}, {"$": "number"}, {"$": "number", "value": 1.0},
    {"$": "number", "value": "Infinity"}, {"$": "number", "value": []}, {"$": "strings"},
    {"$": "objects", "items": 1}, {"$": "csr", "shape": [1, 1]}, {"$": "object"},
    {"$": "object", "kind": "Linear"}, {"$": "object", "fields": {}},
    {"$": "object", "kind": "Linear", "fields": None},
    {"$": "object", "kind": "Linear", "fields": [["a", 1]]},
    {"$": "object", "kind": "Linear", "fields": {"kind": "Gaussian"}},
]  # fmt: skip


@in_one_test("value", WRONG)
def test_what_is_no_description_is_refused(value):
    for described in (value, [value], items(value), table(a=value), part("Linear", a=value)):
        with pytest.raises(ModelFileError):
            parse(described, ARRAYS)


@in_one_test("number", [-1, 2, 10**40, True, False, 0.0, "0", None, [], {}])
def test_arrays_that_the_file_does_not_have_are_refused(number):
    with pytest.raises(ModelFileError):
        parse({"$": "array", "number": number}, ARRAYS)


@in_one_test(
    "wrap",
    [lambda v: [v], lambda v: items(v), lambda v: table(a=v), lambda v: part("Scaled", kernel=v)],
)
def test_deep_nesting_is_refused_and_not_followed(wrap):
    value = 1
    for _ in range(40):
        value = wrap(value)
    parse(value, [])
    for _ in range(400):
        value = wrap(value)
    with pytest.raises(ModelFileError, match="nested too deeply"):
        parse(value, [])
