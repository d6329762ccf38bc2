"""The configuration of the library: its values, and where they apply."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from joblib.externals.loky import get_reusable_executor
from sklearn.model_selection import cross_val_score

from nearlinear import CPSPClassifier, _config, config_context, get_config, set_config
from nearlinear._compile import run_blocks
from nearlinear.streams.blocks import read_ahead

VARIABLE = "NEARLINEAR_MAX_MEMORY"


@pytest.fixture(autouse=True)
def restored(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(_config, "_process_limit", _config._UNSET)


def limit():
    return get_config()["max_memory"]


@pytest.mark.parametrize(
    ("value", "n_bytes"),
    [(1000, 1000.0), (np.float32(2e6), 2e6), ("2GB", 2e9), (" 64 KiB", 65536.0), (None, None)],
)
def test_a_limit_is_a_number_of_bytes_a_size_or_none(value, n_bytes):
    set_config(max_memory=value)
    assert limit() == n_bytes


@pytest.mark.parametrize("value", [0, -1.0, float("nan"), True, "much", "0", "", [1]])
def test_an_invalid_limit_is_an_error_that_names_the_option(value):
    for configure in (set_config, lambda **config: config_context(**config).__enter__()):
        with pytest.raises(ValueError, match="max_memory must be a positive number of bytes"):
            configure(max_memory=value)
    assert limit() is None


def test_the_environment_variable_is_the_initial_value(monkeypatch):
    for text, n_bytes in (("", None), ("1000", 1000.0), ("1e6", 1e6), ("500MB", 5e8)):
        monkeypatch.setenv(VARIABLE, text)
        assert limit() == n_bytes
    set_config(max_memory=None)
    assert limit() is None


def test_an_invalid_environment_variable_is_an_error_that_names_it(monkeypatch):
    for text in ("much", "0", "-5"):
        monkeypatch.setenv(VARIABLE, text)
        with pytest.raises(ValueError, match=f"{VARIABLE} must be .*, got {text!r}"):
            limit()


def test_a_context_restores_the_configuration():
    set_config(max_memory=1e9)
    with pytest.raises(KeyError), config_context(max_memory=1e6):
        with config_context(max_memory=None):
            assert limit() is None
            set_config(max_memory=1e3)
            assert limit() == 1e3
        assert limit() == 1e6
        raise KeyError
    assert limit() == 1e9


def test_a_fit_is_limited(moons):
    with config_context(max_memory=1e4), pytest.raises(MemoryError, match="set_config"):
        CPSPClassifier(50).fit(*moons)
    CPSPClassifier(5).fit(*moons)


def test_threads_have_the_value_of_set_config_but_not_the_context_of_others():
    set_config(max_memory=1e9)
    with ThreadPoolExecutor(1) as pool, config_context(max_memory=1e6):
        assert pool.submit(limit).result() == 1e9


def test_threads_that_a_fit_starts_have_the_configuration_of_their_caller():
    found = []
    with config_context(max_memory=1e6):
        run_blocks(lambda start, stop: found.append(limit()), 4, 1, n_jobs=2)
        found += read_ahead(limit() for _ in range(2))
    assert found == [1e6] * 6


def test_the_environment_variable_reaches_worker_processes(moons, monkeypatch):
    monkeypatch.setenv(VARIABLE, "10kB")
    get_reusable_executor().shutdown(wait=True)  # workers that have started without it
    try:
        with pytest.raises(MemoryError, match="set_config"):
            cross_val_score(CPSPClassifier(50), *moons, cv=2, n_jobs=2, error_score="raise")
    finally:
        get_reusable_executor().shutdown(wait=True)
