"""Multiply-adds and bytes, counted by hand for models of other libraries."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC, LinearSVC

from nearlinear import LLSVMClassifier, MLLKMClassifier, SimpleMKLClassifier
from reproduce import datasets
from reproduce.ldkl.baselines import NystroemSVC, random_features_svc
from reproduce.mllkm.methods import PublishedMLLKM
from reproduce.model_cost import model_bytes, multiply_adds, n_kernels, n_support


@pytest.fixture(scope="module")
def rows():
    split = datasets.sines(30, 10)
    return split.X_train, split.y_train


def test_linear_models_multiply_once_for_each_feature(rows):
    assert multiply_adds(LinearSVC().fit(*rows)) == 2
    assert multiply_adds(Ridge().fit(*rows)) == 2
    assert model_bytes(LinearSVC().fit(*rows)) == 8 * (2 + 1)


def test_a_kernel_machine_pays_for_its_support_vectors(rows):
    kernel = SVC().fit(*rows)
    n_support = len(kernel.support_)
    assert multiply_adds(kernel) == n_support * 2 + n_support
    assert model_bytes(kernel) == 8 * (n_support * 2 + n_support + 1)


@pytest.mark.parametrize("maker", [random_features_svc, NystroemSVC])
def test_kernel_features_cost_a_product_and_a_weight_each(rows, maker):
    assert multiply_adds(maker(n_components=7).fit(*rows)) == 7 * 2 + 7


def test_a_network_pays_for_both_layers(rows):
    with pytest.warns(UserWarning, match="Maximum iterations"):
        network = MLPClassifier(5, max_iter=1).fit(*rows)
    assert multiply_adds(network) == 2 * 5 + 5 * 1
    # As many weights, and a bias for each of the five units and for the output, all float32.
    assert model_bytes(network) == 4 * (15 + 6)


def test_our_models_say_it_themselves(rows):
    model = LLSVMClassifier(6, 3).fit(*rows)
    assert multiply_adds(model) == model.cost_.multiply_adds
    assert model_bytes(model) == model.cost_.n_bytes


def test_trees_do_not_multiply(rows):
    forest = RandomForestClassifier(3, max_depth=2).fit(*rows)
    assert np.isnan(multiply_adds(forest))
    assert model_bytes(forest) > 0


def test_kernels_and_support_vectors_are_counted(rows):
    mixture = SimpleMKLClassifier(weight_solver="newton").fit(*rows)
    assert n_kernels(mixture) == (mixture.kernel_weights_ > 0).sum()
    assert n_support(mixture) == mixture.n_support_
    kernel = SVC().fit(*rows)
    assert (n_kernels(kernel), n_support(kernel)) == (1, len(kernel.support_))
    assert (n_kernels(LinearSVC().fit(*rows)), n_support(LinearSVC().fit(*rows))) == (1, 1)
    assert n_kernels(LLSVMClassifier(6, 3).fit(*rows)) == 6


def test_a_machine_that_has_collapsed_keeps_no_support_vectors(rows):
    model = MLLKMClassifier().fit(*rows)
    assert model.n_support_ > 1
    assert (n_kernels(model), n_support(model)) == (model.n_kernels_, 1)
    wrapped = PublishedMLLKM().fit(*rows)
    assert multiply_adds(wrapped) == wrapped.estimator_.cost_.multiply_adds
    assert (n_kernels(wrapped), n_support(wrapped)) == (wrapped.estimator_.n_kernels_, 1)


def test_a_search_costs_what_its_choice_costs(rows):
    search = GridSearchCV(SVC(), {"gamma": [0.1, 1.0]}).fit(*rows)
    for count in (multiply_adds, model_bytes, n_support):
        assert count(search) == count(search.best_estimator_)
