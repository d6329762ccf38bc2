"""Records do not move with the library's defaults: what shapes a fit is written out."""

import inspect

import pytest

from reproduce.written_out import ldkl_classifier, ldkl_regressor, llc_sapl_classifier

# They change no number of a fit, or a study never sets them.
LEFT_OUT = {
    "class_weight", "warm_start", "n_jobs", "random_state", "verbose", "device",
}  # fmt: skip


@pytest.mark.parametrize("make", [ldkl_classifier, ldkl_regressor, llc_sapl_classifier])
def test_every_setting_that_shapes_a_fit_is_written_out(make):
    assert set(inspect.signature(make.func).parameters) - set(make.keywords) <= LEFT_OUT
