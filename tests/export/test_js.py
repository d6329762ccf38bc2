"""``to_js``: what is written, and what is refused."""

import re
from dataclasses import dataclass

import numpy as np
import pytest
from js.node import ask, job, needs_node
from runtime import crafted

import nearlinear
from nearlinear import LLSVMClassifier, kinds, to_js
from nearlinear.export.js import TYPES, JsExportError, module_text, write_js


@pytest.fixture
def model():
    X = np.random.default_rng(0).standard_normal((40, 3))
    return LLSVMClassifier(n_anchors=4, random_state=0).fit(X, X[:, 0] > 0), X


def test_a_page_names_the_model_that_lies_beside_it(model, tmp_path):
    model, _ = model
    made = to_js(model, tmp_path / "site", name="iris")
    assert made.model == tmp_path / "site" / "iris.nlm"
    assert 'fetch("./iris.nlm")' in made.page.read_text()
    assert made.n_bytes == made.module.stat().st_size + made.model.stat().st_size
    assert nearlinear.load(made.model).get_params() == model.get_params()


@needs_node
def test_what_is_written_scores(model, tmp_path):
    model, X = model
    (found,) = ask([job(to_js(model, tmp_path).model.read_bytes(), X, "predict")])
    assert found["predict"] == model.predict(X).tolist()


@dataclass(frozen=True)
class Plain:
    """A gate from outside."""

    anchors: np.ndarray
    n_neighbors: int = 1


def test_a_kind_from_outside_is_refused_and_nothing_is_written(tmp_path):
    known = dict(kinds._REGISTERED), dict(kinds._NAMES)
    kinds.register(Plain, name="acme.Plain", check=lambda part, n_features: 5)
    try:
        gate = {"$": "object", "kind": "acme.Plain", "fields": {}}
        data = crafted.file_of("gated linear", crafted.put("gate", gate))
        with pytest.raises(JsExportError, match=r"acme\.Plain comes from outside of nearlinear"):
            write_js(data, tmp_path / "site")
    finally:
        kinds._REGISTERED, kinds._NAMES = known
    assert not (tmp_path / "site").exists()


def test_a_place_that_cannot_be_written_is_named(model, tmp_path):
    (tmp_path / "site").write_text("a file")
    with pytest.raises(JsExportError, match="cannot be written"):
        to_js(model[0], tmp_path / "site")


@needs_node
def test_types_name_what_a_model_has(model, tmp_path):
    declared = re.search(r"interface Model \{(.*?)^\}", module_text(TYPES), re.S | re.M).group(1)
    names = re.findall(r"^  (?:readonly )?(\w+)[(:]", declared, re.M)
    data = to_js(model[0], tmp_path).model.read_bytes()
    (found,) = ask([job(data, [], *names)])
    assert len(names) > 10
    assert [name for name in names if name not in found] == []
