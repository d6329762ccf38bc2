"""The local kernel of LDKL against its features, node by node, and in other machines."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import make_moons
from sklearn.svm import SVC

import nearlinear
import nearlinear.runtime
from nearlinear import LDKLClassifier, UniformMKLClassifier
from nearlinear.displays.kernel_labels import describe
from nearlinear.export.c.literals import CSourceError
from nearlinear.export.c.source import to_c
from nearlinear.export.onnx.builder import OnnxExportError
from nearlinear.export.onnx.graph import to_onnx
from nearlinear.kernels import LDKLKernel, Linear, OnColumns, Polynomial, Product, WeightedSum
from reference import tree

QUICK = {"max_iter": 10, "random_state": 0}


@pytest.fixture(scope="module")
def moons():
    return make_moons(80, noise=0.1, random_state=0)


def local_features(predictor, X):
    """Gates of all nodes of a balanced tree, zero off the path."""
    n_nodes, kind = 2 ** (predictor.depth + 1) - 1, predictor.node_gate.name
    slopes, sigma = getattr(predictor, "slopes", None), getattr(predictor.node_gate, "sigma", 1.0)
    found = np.zeros((len(X), n_nodes))
    for i, z in enumerate(np.column_stack([X, np.ones(len(X))])):
        for node in tree.path(z, predictor.splits, predictor.depth):
            found[i, node] = tree.feature(z, node, kind, predictor.splits, slopes, sigma)
    return found


@pytest.mark.parametrize("node_gate", ["tanh", "compositional", "indicator"])
@pytest.mark.parametrize("form", [np.asarray, csr_matrix], ids=["dense", "CSR"])
def test_the_kernel_is_the_product_of_gates_along_shared_paths(moons, node_gate, form):
    X, y = moons
    model = LDKLClassifier(3, node_gate=node_gate, **QUICK).fit(X, y)
    kernel, features = LDKLKernel.of(model), local_features(model.predictor_, X)
    np.testing.assert_allclose(kernel(form(X)), features @ features.T, atol=1e-10)
    np.testing.assert_allclose(kernel(form(X), form(X[:9])), features @ features[:9].T, atol=1e-10)
    np.testing.assert_allclose(kernel.diagonal(form(X)), (features**2).sum(axis=1), atol=1e-10)


@pytest.mark.parametrize(
    "settings",
    [{"n_trees": 2}, {"pruning": "l2", "depth": 4}, {"global_features": "quadratic"},
     {"n_components": 1}, {"node_gate": "indicator", "pruning": "l1"}],
)  # fmt: skip
def test_any_tree_of_ldkl_has_its_kernel_in_machines_files_and_the_runtime(
    moons, settings, tmp_path
):
    X, y = moons
    kernel = LDKLKernel.of(LDKLClassifier(**{"depth": 2, **settings}, **QUICK).fit(X, y))
    gram = kernel(X)
    np.testing.assert_allclose(gram, gram.T)
    assert np.linalg.eigvalsh(gram).min() > -1e-10
    np.testing.assert_allclose(np.diag(gram), kernel.diagonal(X), atol=1e-12)
    machine = UniformMKLClassifier([kernel, Product((kernel, Linear()))], normalization="trace")
    machine.fit(X, y)
    nearlinear.save(machine, tmp_path / "model.nlm")
    scores = machine.decision_function(X)
    assert np.array_equal(nearlinear.load(tmp_path / "model.nlm").decision_function(X), scores)
    read = nearlinear.runtime.load(tmp_path / "model.nlm")
    np.testing.assert_allclose(read.decision_function(X), scores, atol=1e-9)
    np.testing.assert_allclose(machine.compile()(X[0]), scores[0])


def test_a_product_with_a_linear_kernel_is_the_kernel_of_ldkl_itself(moons):
    X, y = moons
    model = LDKLClassifier(2, **QUICK).fit(X, y)
    local, rows = local_features(model.predictor_, X), np.column_stack([X, np.ones(len(X))])
    wide = np.einsum("ik,id->ikd", local, rows).reshape(len(X), -1)
    kernel = Product((LDKLKernel.of(model), Polynomial(1, gamma=1.0)))
    np.testing.assert_allclose(kernel(X), wide @ wide.T, atol=1e-9)
    assert SVC(kernel=kernel, C=10.0).fit(X, y).score(X, y) > 0.95
    assert describe(kernel).label(None) == "Product of 2 kernels, all features"
    assert describe(LDKLKernel.of(model)).label(None) == "Paths down a tree, all features"


def test_a_sum_of_products_lives_on_groups_of_columns(moons):
    X, y = moons
    models = [LDKLClassifier(2, **QUICK).fit(X[:, [d]], y) for d in (0, 1)]
    globals_ = (Linear(), Polynomial(2, gamma=1.0))
    terms = tuple(
        OnColumns(Product((LDKLKernel.of(model), kernel)), (d,))
        for d, (model, kernel) in enumerate(zip(models, globals_, strict=True))
    )
    kernel = WeightedSum(terms, (1.0, 0.5))
    expected = 0.0
    for d, (model, part, weight) in enumerate(zip(models, globals_, (1.0, 0.5), strict=True)):
        features = local_features(model.predictor_, X[:, [d]])
        expected = expected + weight * (features @ features.T) * part(X[:, [d]])
    np.testing.assert_allclose(kernel(X), expected, atol=1e-9)


def test_what_has_no_tree_and_where_it_cannot_go_is_said(moons, tmp_path):
    X, y = moons
    with pytest.raises(TypeError, match="LDKLKernel takes a fitted LDKL model, not SVC"):
        LDKLKernel.of(SVC().fit(X, y))
    kernel = LDKLKernel.of(LDKLClassifier(2, **QUICK).fit(X, y))
    machine = UniformMKLClassifier([kernel]).fit(X, y)
    with pytest.raises(OnnxExportError, match="export an LDKL model"):
        to_onnx(machine)
    with pytest.raises(CSourceError, match="export an LDKL model"):
        to_c(machine, tmp_path)
