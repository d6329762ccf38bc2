"""A generated raw table of as many rows as one likes: texts, dates, long tails, missing cells."""

import numpy as np
import pandas
import pyarrow
from pyarrow.parquet import ParquetWriter

TARGET = "outcome"
_TOWNS, _GROUP = 4000, 20_000


def customers(n_rows, seed):
    """Ten columns and whether each one leaves; towns are as unlike as Zipf's law has them."""
    rng, towns = np.random.default_rng(seed), np.random.default_rng(0)
    habits = towns.normal(0.0, 1.0, _TOWNS)
    town = np.minimum(rng.zipf(1.3, n_rows), _TOWNS) - 1
    age, income = rng.uniform(18, 80, n_rows), rng.lognormal(10, 1, n_rows)
    plan, device = rng.integers(0, 3, n_rows), rng.integers(0, 3, n_rows)
    days, clicks = rng.integers(0, 1500, n_rows), rng.poisson(3, n_rows)
    load, score = rng.normal(0, 1, n_rows), rng.uniform(0, 100, n_rows)
    odds = (
        habits[town] + 0.0015 * (age - 45) ** 2 - 1.0 + 0.6 * (plan == 2) * np.sign(load)
        + np.where(score > 70, 1.5, -0.5) + 0.4 * np.sin(days / 60) + 0.1 * clicks
        - 0.4 * (np.log(income) - 10)
    )  # fmt: skip
    leaves = rng.random(n_rows) < 1 / (1 + np.exp(-odds))
    table = pandas.DataFrame({
        "id": np.arange(n_rows), "age": age,
        "income": np.where(rng.random(n_rows) < 0.08, np.nan, income),
        "city": np.char.add("town ", town.astype(str)),
        "plan": np.array(["basic", "more", "all"], dtype=object)[plan],
        "device": np.array(["android", "ios", "web"], dtype=object)[device],
        "joined": np.datetime64("2020-01-01", "us") + days * np.timedelta64(86_400_000_000, "us"),
        "clicks": clicks, "load": load, "score": score,
        TARGET: np.where(leaves, "leaves", "stays"),
    })  # fmt: skip
    table.loc[rng.random(n_rows) < 0.05, "plan"] = None
    table.loc[rng.random(n_rows) < 0.03, "joined"] = pandas.NaT
    return table


def write_customers(n_rows, path, first_seed=0):
    """A Parquet file in small row groups, of which one is in memory at a time."""
    writer = None
    for start in range(0, n_rows, _GROUP):
        table = customers(min(_GROUP, n_rows - start), first_seed + start // _GROUP)
        table["id"] += start
        part = pyarrow.Table.from_pandas(table, preserve_index=False)
        writer = writer or ParquetWriter(path, part.schema)
        writer.write_table(part)
    writer.close()
