"""Small models of raw tables, and what a report says of them."""

import numpy as np
import pandas
import pytest

from nearlinear import NearLinearClassifier, NearLinearRegressor
from nearlinear.report import cost
from nearlinear.report.contents import contents
from nearlinear.report.subject import subject_of

HOSTILE = "</script><img src=x onerror=alert(1)>&amp;'\"\u2028"


@pytest.fixture(scope="session", autouse=True)
def hasty():
    """Times are measured once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cost, "_SECONDS", 0.0)
        yield


def raw_rows(n_rows=240, seed=0):
    """Numbers with gaps, texts of which one would end a script, dates, two targets."""
    rng = np.random.default_rng(seed)
    width, height = rng.normal(5.0, 2.0, n_rows), rng.normal(0.0, 1.0, n_rows)
    kind = rng.choice(["007", "flat", HOSTILE], n_rows)
    frame = pandas.DataFrame({
        "width": np.where(rng.random(n_rows) < 0.1, np.nan, width),
        HOSTILE: height,
        "kind": kind,
        "day": np.datetime64("2024-01-01") + rng.integers(0, 300, n_rows),
        "always": "the same",
    })  # fmt: skip
    values = np.abs(width - 5.0) + 2.0 * (kind == "flat") + 0.3 * height
    label = np.select([values > 3.0, values > 1.5], ["high", HOSTILE], "low")
    return frame, label, values + 0.1 * rng.standard_normal(n_rows)


@pytest.fixture(scope="session")
def classes():
    """A classifier of lines and anchors, with rows that it has not seen."""
    X, y, _ = raw_rows()
    search = NearLinearClassifier(families=["piecewise linear", "anchors"], random_state=0)
    return search.fit(X[:160], y[:160]), X[160:], y[160:]


@pytest.fixture(scope="session")
def values():
    """A regressor with anchors, so that it has regions."""
    X, _, y = raw_rows()
    search = NearLinearRegressor(families=["anchors"], random_state=0)
    return search.fit(X[:160], y[:160]), X[160:], y[160:]


@pytest.fixture(scope="session")
def told(classes, values):
    """Subjects and documents, by task."""
    found = {}
    for name, (model, X, y) in {"classes": classes, "values": values}.items():
        subject = subject_of(model, X, y, target="size")
        found[name] = subject, contents(subject)
    return found
