"""What is deep about LDKL: a depth of log₂ of the pieces is enough."""

from itertools import product

import numpy as np
import pytest

from nearlinear import LDKLClassifier

EXACT = {"C": 1e3, "jitter": 0.0, "batch_size": 32, "random_state": 0}


@pytest.mark.parametrize("n_bits", [4, 8])
def test_the_parity_of_k_bits_is_learned_in_log_k_levels(n_bits):
    X = np.array(list(product([-1.0, 1.0], repeat=n_bits)))
    parity = (X > 0).sum(axis=1) % 2
    depth = int(np.log2(n_bits))
    model = LDKLClassifier(depth, max_iter=300, **EXACT).fit(X, parity)
    np.testing.assert_array_equal(model.predict(X), parity)


def test_a_checker_board_of_64_fields_is_learned_in_six_levels():
    rows = np.random.default_rng(0).uniform(0.0, 8.0, (6000, 2))
    colors = np.floor(rows).sum(axis=1) % 2
    model = LDKLClassifier(6, max_iter=100, learning_rate=0.03, **EXACT)
    model.fit(rows[:4000], colors[:4000])
    assert model.score(rows[4000:], colors[4000:]) > 0.88
