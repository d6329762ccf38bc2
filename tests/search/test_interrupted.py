"""A search that Ctrl-C or the clock ends keeps what was tried until then."""

import numpy as np
import pytest
from sklearn.utils.validation import check_is_fitted

from nearlinear import NearLinearClassifier
from nearlinear.search import search
from nearlinear.search.fits.forecasts import Pace
from nearlinear.search.fitting import fit_table
from nearlinear.search.portfolio import portfolio

FEW = ["piecewise linear", "anchors"]
N_TRIALS = 7  # four linear models, of which the first is held against all others, and three bent


def interrupted(after):
    """A model whose search hears Ctrl-C after so many fits; 0: after the first to all rows."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (120, 2))
    y = np.abs(X[:, 0]) + 0.1 * rng.standard_normal(120) > 0.5
    model = NearLinearClassifier(families=["piecewise linear"], random_state=0)

    def tell(step, figures):
        if figures["fit"].done == after if "fit" in figures else after == 0:
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(search, "portfolio", portfolio)
        fit_table(model, X, y, None, tell)
    return model, X, y


def test_the_first_round_counts_where_few_have_come_farther():
    model, X, y = interrupted(after=N_TRIALS + 3)
    check_is_fitted(model)
    assert "piecewise linear" in {one["model"] for one in model.record_}
    assert model.score(X, y) > 0.8  # a linear model knows half of them


def test_one_fit_is_enough_to_keep_a_model():
    model, _, _ = interrupted(after=1)
    assert [one["model"] for one in model.record_] == ["linear"]


def test_of_the_last_fits_those_that_are_done_are_kept():
    model, X, y = interrupted(after=0)
    assert [one["model"] for one in model.record_] == ["linear"]
    assert model.predict(X).shape == y.shape


@pytest.fixture
def limited(monkeypatch, rng):
    """``fit(seconds)`` where a fit takes ``seconds(candidate)``, and there are 90 for all."""
    X = rng.uniform(-1, 1, (120, 2))

    def fit(seconds):
        monkeypatch.setattr(Pace, "seconds", lambda self, one, n_rows=None: seconds(one))
        monkeypatch.setattr(search, "portfolio", portfolio)
        told = []
        model = NearLinearClassifier(families=FEW, time_limit=90, random_state=0)
        fit_table(model, X, X[:, 0] > 0, None, lambda step, figures: told.append(step))
        return model, told

    return fit


def test_a_time_limit_names_families_that_had_no_turn(limited):
    with pytest.warns(UserWarning) as told:
        model, _ = limited(lambda one: {"anchors": 50.0}.get(one.family, 0.0))
    (only,) = told
    assert str(only.message) == (
        "90 s for the search were too few to try anchors: allow more time, or name fewer families."
    )
    tried = {one["model"] for one in model.tried_ if one["rounds"]}
    assert tried == {"linear", "piecewise linear"}


def test_inside_a_time_limit_every_family_has_its_turn_first(limited):
    _, told = limited(lambda one: one.C)
    families = [step.split(" (")[0] for step in told]
    assert families[:3] == ["linear", "piecewise linear", "anchors"]
    assert told[1].startswith("piecewise linear (C 0.03,")
    assert told[0].startswith("linear (C 1.0,")  # which all others are held against
