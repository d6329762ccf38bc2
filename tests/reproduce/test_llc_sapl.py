"""The comparison of the LLC-SAPL paper."""

import pytest

from reproduce.llc_sapl import run


@pytest.mark.filterwarnings("ignore")
def test_the_smoke_run_goes_through():
    assert run.main(["--smoke"]) == 0
