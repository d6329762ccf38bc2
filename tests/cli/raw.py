"""Raw tables: texts, gaps, dates, columns that say nothing."""

import numpy as np
import pandas

LINEAR = ["--families", "linear"]  # the shortest search


def raw_frame(n_rows=90):
    """Codes of which some look like numbers, a date, gaps, and names of the rows."""
    rng = np.random.default_rng(0)
    width, kind = rng.normal(5.0, 3.0, n_rows).round(3), rng.choice(["007", "A1", "12"], n_rows)
    day = np.datetime64("2024-01-01") + rng.integers(0, 300, n_rows)
    heavy = width + 2.0 * (kind == "007") + rng.normal(0, 0.5, n_rows) > 5.5
    frame = pandas.DataFrame({
        "tag": [f"row {k}" for k in range(n_rows)],
        "width": np.where(rng.random(n_rows) < 0.1, np.nan, width),
        "code": np.where(rng.random(n_rows) < 0.1, None, kind),
        "day": day.astype(str),
        "heavy": np.where(heavy, "yes", "no"),
    })  # fmt: skip
    return frame


def raw_table(folder, name="raw.csv", **changes):
    path = folder / name
    raw_frame().assign(**changes).to_csv(path, index=False)
    return path
