"""Tables as they are, in blocks: texts, dates and gaps."""

import numpy as np
import pandas as pd
import pytest

from nearlinear.streams import from_raw_tables

pytest.importorskip("pyarrow")


def frame(n_rows):
    rng = np.random.default_rng(0)
    return pd.DataFrame({
        "number": rng.integers(0, 9, n_rows), "text": rng.choice(["x", "y", None], n_rows),
        "day": pd.Timestamp("2024-01-05"), "label": rng.choice(["p", "q"], n_rows),
    })  # fmt: skip


def test_parquet_is_given_out_as_it_is(tmp_path):
    table = frame(1000)
    for name, part in (("a", table[:400]), ("b", table[400:])):
        part.to_parquet(tmp_path / f"{name}.parquet", row_group_size=150)
    source = from_raw_tables(tmp_path, "label", block_rows=100)
    parts = [X for X, _, _ in source]
    assert source.n_parts == 7 and max(map(len, parts)) == 100
    found = pd.concat(parts).reset_index(drop=True)
    assert found.isna().equals(table.drop(columns="label").isna())
    assert (found["number"] == table["number"]).all() and (found["day"] == table["day"]).all()
    assert np.concatenate([y for _, y, _ in source]).tolist() == table["label"].tolist()


def test_csv_cells_that_turn_into_texts_late_make_a_column_of_texts(tmp_path):
    table = frame(90_000).astype({"number": object})
    table.loc[89_999, "number"] = "many"  # beyond what pyarrow looks at
    table.to_csv(tmp_path / "t.csv", index=False)
    source = from_raw_tables(tmp_path / "t.csv", "label", columns=["number", "text"])
    X, _, _ = next(iter(source))
    assert X["number"].iloc[0] == str(table["number"][0]) and X["text"].isna().any()
    with pytest.raises(ValueError, match="no column 'gone'"):
        from_raw_tables(tmp_path / "t.csv", "label", columns=["gone"])
