"""A fit to blocks that is stopped at any moment goes on to the bits of one that was not."""

import numpy as np
import pytest
from estimators.dying_source import DyingSource
from grids import in_one_test
from sklearn.datasets import make_moons

import nearlinear
from nearlinear.streams import from_arrays


class Dies(Exception):
    """What a kill is to this process."""


@pytest.fixture(scope="module")
def source():
    X, y = make_moons(600, noise=0.2, random_state=0)
    return from_arrays(X, y, block_rows=100)


MODELS = {
    "adam": ("LLCSAPLClassifier", {"n_anchors": 6, "max_iter": 4}),
    "compared with a line": ("LLCSAPLClassifier", {"max_iter": 9}),
    "row by row": ("LLCSAPLClassifier", {"n_anchors": 6, "max_iter": 4, "solver": "sgd"}),
    "tree": ("LDKLClassifier", {"depth": 2, "max_iter": 6}),
    "projected tree": ("LDKLClassifier", {"depth": 2, "max_iter": 6, "n_components": 1}),
    "forest": ("LocalForestClassifier", {"n_trees": 3, "max_leaves": 4, "pairs": 0}),
    "linear leaves": (
        "LocalForestRegressor",
        {"n_trees": 2, "max_leaves": 3, "pairs": 0, "leaf_penalty": 1.0, "leaf_model": "linear"},
    ),
    "values": ("LDKLRegressor", {"depth": 2, "max_iter": 6}),
}


def model_of(kind):
    name, settings = MODELS[kind]
    return getattr(nearlinear, name)(**settings, random_state=0)


def scores(model, source):
    X = np.concatenate([block.X for block in source])
    return model.predictor_(X)


@in_one_test("kind", MODELS)
def test_a_fit_that_died_goes_on_to_the_same_bits(kind, source, tmp_path):
    whole, path = model_of(kind).fit(source), tmp_path / f"{kind}.npz"
    n_deaths, left = 0, 80
    while True:
        model = model_of(kind)
        try:
            model.fit(DyingSource(source, left, Dies()), checkpoint=path, every=0.0)
            break
        except Dies:
            n_deaths, left = n_deaths + 1, left + 67
            assert path.exists() or n_deaths == 1
    assert n_deaths >= 2
    assert np.array_equal(scores(model, source), scores(whole, source))
    assert [str(line) for line in getattr(model, "history_", [])] == [
        str(line) for line in getattr(whole, "history_", [])
    ]


def test_a_checkpoint_of_another_fit_or_no_checkpoint_is_refused(source, tmp_path):
    path, model = tmp_path / "c.npz", model_of("tree")
    model.fit(source, checkpoint=path, every=0.0)
    with pytest.raises(ValueError, match=r"another fit \(depth: '2' there, '3' here\)"):
        model_of("tree").set_params(depth=3).fit(source, checkpoint=path)
    other = from_arrays(source.X[::-1].copy(), source.y, block_rows=100)
    with pytest.raises(ValueError, match="another fit"):
        model_of("tree").fit(other, checkpoint=path)
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(ValueError, match="no checkpoint of a fit"):
        model_of("tree").fit(source, checkpoint=path)


def test_a_fit_without_a_seed_goes_on_with_the_seed_that_it_had(source, tmp_path):
    first = model_of("adam").set_params(random_state=None)
    first.fit(source, checkpoint=tmp_path / "c", every=0.0)
    again = model_of("adam").set_params(random_state=None)
    again.fit(source, checkpoint=tmp_path / "c", every=0.0)
    assert np.array_equal(scores(first, source), scores(again, source))
