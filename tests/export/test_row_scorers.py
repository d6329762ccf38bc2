"""Single rows of a model of the front door, whose encoder is its own."""

import numpy as np
import pandas as pd

from nearlinear import NearLinearClassifier, row_scorer


def test_a_model_of_the_front_door_encodes_a_single_row_once():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"size": rng.normal(5.0, 2.0, 120), "color": ["red", "blue", None] * 40})
    model = NearLinearClassifier(families=["linear"], random_state=0)
    model.fit(table, np.where(table["size"] > 5, "large", "small"))
    scorer = row_scorer(model)
    rows = [[9.0, "red"], [1.0, None], [5.5, "green"]]
    expected = model.predict_proba(pd.DataFrame(rows, columns=table.columns))
    np.testing.assert_allclose([scorer.predict_proba(row) for row in rows], expected, atol=1e-6)
