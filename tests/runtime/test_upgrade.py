"""Files of earlier versions: old names become today's, and nothing else changes."""

import copy
import json
import struct
import zlib

import numpy as np
import pytest
from grids import in_one_test
from runtime import crafted

from nearlinear.runtime.columns.readings import Reading
from nearlinear.runtime.container import MAGIC, from_bytes, to_bytes
from nearlinear.runtime.preparation import Preparation
from nearlinear.runtime.upgrade import (
    FIELDS,
    KINDS,
    PARAMETERS,
    VALUES,
    read_categories,
    upgrade,
)


def in_old_names(value):
    """A description as files of version 1 had it."""
    if isinstance(value, list):
        return [in_old_names(item) for item in value]
    if not isinstance(value, dict):
        return value
    value = {name: in_old_names(item) for name, item in value.items()}
    if value.get("$") == "object":
        kinds = {new: old for old, new in KINDS.items()}
        fields = {(kind, new): old for (kind, old), new in FIELDS.items()}
        kind = value["kind"]
        names = value["fields"]
        value["fields"] = {fields.get((kind, name), name): names[name] for name in names}
        value["kind"] = kinds.get(kind, kind)
    return value


def as_written(version, data):
    """The bytes of a file as earlier versions wrote them; the first two sum up the header alone."""
    (length,) = struct.unpack_from("<Q", data, 16)
    start = zlib.crc32(struct.pack("<I", version)) if version > 2 else 0
    return (
        MAGIC + struct.pack("<II", version, zlib.crc32(data[24 : 24 + length], start)) + data[16:]
    )


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("name", crafted.MODELS)
def test_kinds_and_fields_get_their_new_names(name, version):
    header, arrays = crafted.make(name)
    data = to_bytes(in_old_names(header), arrays)
    assert from_bytes(as_written(version, data))[0] == header


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_mean_becomes_an_average(version):
    header, arrays = crafted.make("forest")
    members = header["predictor"]["fields"]["members"]
    old = header | {"predictor": crafted.part("Mean", predictors=members)}
    data = as_written(version, to_bytes(old, arrays))
    assert from_bytes(data)[0]["predictor"] == header["predictor"]


def test_names_of_version_3_are_not_older_ones():
    """A method from outside may have a parameter that one of ours had."""
    header, arrays = crafted.make("forest")
    header |= {"method": "acme.Method", "parameters": parameters(("chunk", 7))}
    assert from_bytes(as_written(3, to_bytes(header, arrays)))[0] == header


def test_files_of_today_are_not_changed():
    header, arrays = crafted.make("tree of TanhNode")
    old = in_old_names(header)
    assert old != header
    assert from_bytes(to_bytes(old, arrays))[0] == old


@pytest.mark.parametrize(("key", "new"), PARAMETERS.items(), ids=str)
def test_parameters_get_their_new_names_or_go(key, new):
    method, name = key
    header = {"method": method or "LDKLClassifier", "parameters": parameters((name, 7), ("C", 1.0))}
    member = copy.deepcopy(header)
    header["members"] = [member]
    upgrade(header, [], 1)
    wanted = parameters(("C", 1.0)) if new is None else parameters((new, 7), ("C", 1.0))
    assert header["parameters"] == member["parameters"] == wanted


@pytest.mark.parametrize(("key", "new"), VALUES.items(), ids=str)
def test_values_get_their_new_names(key, new):
    header = {"method": "SimpleMKLClassifier", "parameters": parameters(key, ("other", key[1]))}
    upgrade(header, [], 1)
    assert header["parameters"] == parameters((key[0], new), ("other", key[1]))


def parameters(*items):
    return {"$": "dict", "items": [list(item) for item in items]}


@in_one_test("header", [
        {}, {"members": 1}, {"members": [1, None]}, {"method": [], "parameters": parameters()},
        {"method": "X", "parameters": 3}, {"method": "X", "parameters": {"items": 3}},
        {"method": "X", "parameters": {"items": [3, [], ["a"], [[], 1], ["bias", ["penalised"]]]}},
        {"predictor": {"$": "object"}}, {"predictor": {"$": "object", "kind": [], "fields": {}}},
        {"predictor": {"$": "object", "kind": "TreePath", "fields": 5}}, {"$": []},
    ])  # fmt: skip
def test_what_is_described_wrongly_is_left_to_the_rules(header):
    before = copy.deepcopy(header)
    upgrade(header, [], 1)
    assert header == before


def test_a_deep_header_is_walked():
    text = b'{"arrays":[],"x":' + b"[" * 900 + b"]" * 900 + b"}"
    data = MAGIC + struct.pack("<IIQ", 1, zlib.crc32(text), len(text)) + text
    assert json.dumps(from_bytes(data)[0]["x"]) == "[" * 900 + "]" * 900


def test_categories_are_read_as_they_were_compared():
    """A column of words, of which one may be any text, and codes that must be known."""
    old = {
        "source": np.array([1, 1, 1, 0, 2, 2, 1]), "missing": np.array([1.0, 0, 0, 5, 0, 0, 1]),
        "categories": ["red", "blue", "", None, 3.0, 7.0, "red"], "known": [[2, [3.0, 7.0]]],
        "readings": None, "equals": None, "curves": None,
    }  # fmt: skip
    found = read_categories(old, 3)
    readings = tuple(Reading(column, tuple(of), how) for column, of, how in found.pop("readings"))
    prepare = Preparation(3, **found, readings=readings)
    rows = [[1.5, "blue", 7.0], [np.nan, np.nan, 3], [2, "?", np.nan], [0, "", 3], [0, "red", 3]]
    wanted = [
        [0, 1, 0, 1.5, 0, 1, 0], [1, 0, 0, 5, 1, 0, 1], [0, 0, 0, 2, 0, 0, 0],
        [0, 0, 1, 0, 1, 0, 0], [1, 0, 0, 0, 1, 0, 1],
    ]  # fmt: skip
    np.testing.assert_array_equal(prepare(np.array(rows, dtype=object)), wanted)
    with pytest.raises(ValueError, match="Row 0 has 4 in column 2, which is none"):
        prepare(np.array([[0.0, "red", 4]], dtype=object))
