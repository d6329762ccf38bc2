"""A table of all kinds of columns, with gaps."""

import numpy as np
import pandas as pd
import pytest

N_ROWS = 200


@pytest.fixture(scope="session")
def people():
    """Numbers (with gaps, long tails, two values), texts, categories, dates, and labels."""
    rng = np.random.default_rng(0)
    minutes = rng.integers(0, 90_000, N_ROWS).astype("timedelta64[m]")
    days = pd.date_range("2019-05-01", periods=N_ROWS).strftime("%Y-%m-%d")
    frame = pd.DataFrame(
        {
            "age": rng.normal(40, 9, N_ROWS),
            "income": np.exp(3 * rng.normal(size=N_ROWS)),
            "children": rng.integers(0, 6, N_ROWS),
            "smokes": rng.random(N_ROWS) < 0.1,
            "grade": rng.choice([1, 2], N_ROWS),
            "sex": rng.choice(["female", "male"], N_ROWS),
            "color": rng.choice(["red", "green", "blue"], N_ROWS),
            "size": pd.Categorical(rng.choice([38, 40, 42], N_ROWS)),
            "city": [f"city {k}" for k in rng.integers(0, 60, N_ROWS)],
            "born": np.datetime64("2020-01-01", "us") + minutes,
            "seen": rng.permutation(days),
        }
    )
    y = (frame["age"] > 40).to_numpy()
    frame.loc[3:9, "age"] = np.nan
    frame.loc[4:12, "color"] = None
    frame.loc[0:5, "born"] = pd.NaT
    return frame, y
