"""One list of kinds: every target knows each of its kinds, or says why not."""

import sys
from dataclasses import dataclass

import numpy as np
import pytest

import nearlinear
import nearlinear.runtime
from nearlinear import LMKLClassifier, kinds
from nearlinear.export.c.literals import CSourceError
from nearlinear.export.c.source import to_c
from nearlinear.export.onnx.builder import OnnxExportError
from nearlinear.export.onnx.graph import to_onnx
from nearlinear.kinds import FAMILIES, KINDS, NOT_IN, TARGETS, class_of, register, table
from nearlinear.runtime import ModelFileError
from nearlinear.runtime.fields import number


def kinds_of(target):
    return [kind for family in TARGETS[target][1] for kind in FAMILIES[family]]


@pytest.mark.parametrize("target", TARGETS)
def test_every_target_knows_each_kind_or_says_why_not(target):
    known = {*table(target), *NOT_IN.get(target, {})}
    missing = [kind for kind in kinds_of(target) if kind not in known]
    assert missing == [], f"write these into RULES of nearlinear.{TARGETS[target][0]}"


@pytest.mark.parametrize("target", TARGETS)
def test_no_target_has_a_rule_for_what_is_no_kind_or_a_reason_beside_a_rule(target):
    assert set(table(target)) <= set(KINDS)
    assert set(table(target)) & set(NOT_IN.get(target, {})) == set()


def test_every_kind_is_where_the_list_says():
    assert [kind for kind in KINDS if class_of(kind).__name__ != kind] == []


# --- kinds from outside -------------------------------------------------------------------------


@dataclass(frozen=True)
class Half:
    """Two components, each with half of the answer; learns nothing."""

    width: float = 0.5

    def start(self, Z, n_components, rng):
        return self

    def __call__(self, Z):
        return np.full((Z.shape[0], 2), self.width)

    parameters = np.zeros(0)

    def with_parameters(self, parameters):
        return self

    def gradient(self, Z, slopes):
        return np.zeros(0)


@pytest.fixture
def half():
    """A model with a gate of ours that nobody has registered; what is registered is forgotten."""
    known = dict(kinds._REGISTERED), dict(kinds._NAMES)
    X = np.random.default_rng(0).standard_normal((40, 2))
    yield LMKLClassifier(gate=Half(), n_copies=2).fit(X, X[:, 0] > 0)
    kinds._REGISTERED, kinds._NAMES = known


def check_half(part, n_features):
    number(part.width, "width", 0.0, 1.0)
    return 2


def test_a_gate_that_is_not_registered_is_refused_by_all(half, tmp_path):
    with pytest.raises(ModelFileError, match="Half is no data that a model file can hold"):
        nearlinear.save(half, tmp_path / "model.nlm")
    with pytest.raises(OnnxExportError, match=r"Half is no kind .* register\(Half, onnx=…\)"):
        to_onnx(half)
    with pytest.raises(CSourceError, match=r"Half is no kind .* register\(Half, c=…\)"):
        to_c(half, tmp_path)
    assert half.compile()(np.zeros(2)) == pytest.approx(half.decision_function([[0.0, 0.0]])[0])


def test_a_place_without_a_function_names_the_keyword(half, tmp_path):
    register(Half, name="acme.Half")
    with pytest.raises(ModelFileError, match=r"acme\.Half was registered without check="):
        nearlinear.save(half, tmp_path / "model.nlm")
    register(Half, name="acme.Half", check=check_half)
    nearlinear.save(half, tmp_path / "model.nlm")
    with pytest.raises(OnnxExportError, match=r"acme\.Half was registered without onnx="):
        to_onnx(half)
    with pytest.raises(CSourceError, match=r"acme\.Half was registered without c="):
        to_c(half, tmp_path)
    with pytest.raises(ModelFileError, match=r"acme\.Half was registered without score="):
        nearlinear.runtime.load(tmp_path / "model.nlm").decision_function(np.zeros((1, 2)))


def test_a_reader_without_the_kind_is_told_so_and_imports_nothing(half, tmp_path):
    register(Half, name="acme.Half", check=check_half)
    nearlinear.save(half, tmp_path / "model.nlm")
    kinds._REGISTERED.clear(), kinds._NAMES.clear()
    for load in (nearlinear.load, nearlinear.runtime.load):
        with pytest.raises(ModelFileError, match=r"'acme\.Half', which is not registered: import"):
            load(tmp_path / "model.nlm")
    assert "acme" not in sys.modules


def test_a_name_is_taken_once_and_has_a_dot(half):
    register(Half, name="acme.Half")
    with pytest.raises(ValueError, match=r"acme\.Half is registered already"):
        register(type("Other", (Half,), {}), name="acme.Half")
    with pytest.raises(ValueError, match="must be two words with a dot"):
        register(Half, name="Softmax")
    with pytest.raises(TypeError, match="is no dataclass"):
        register(type("Plain", (), {}))


def test_a_registered_kind_of_another_family_is_refused(half, tmp_path):
    register(Half, name="acme.Half", check=check_half)
    nearlinear.save(half, tmp_path / "model.nlm")
    kinds._REGISTERED["acme.Half"] = kinds.Registered(Half, "kernel", {"check": check_half})
    with pytest.raises(ModelFileError, match=r"gate of the unknown kind 'acme\.Half'"):
        nearlinear.load(tmp_path / "model.nlm")
