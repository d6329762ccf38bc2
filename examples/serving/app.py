"""A model file behind HTTP: a row of JSON comes in, its label and probabilities go out."""

import os
from typing import Any

from fastapi import FastAPI, HTTPException

from nearlinear import load, row_scorer

model = load(os.environ.get("MODEL", "model.nlm"))
columns, classes = model.feature_names_in_.tolist(), model.classes_.tolist()
score = row_scorer(model)  # one row in microseconds; compiled here, before the first request
app = FastAPI(title="nearlinear")


@app.get("/model")
async def describe() -> dict[str, Any]:
    return {"columns": columns, "classes": classes}


@app.post("/predict")
async def predict(row: dict[str, Any]) -> dict[str, Any]:
    if set(row) != set(columns):
        wanted = ", ".join(map(repr, columns))
        raise HTTPException(422, f"A row has the columns {wanted}; null is a missing cell.")
    try:
        found = score.predict_proba([row[name] for name in columns])
    except (ValueError, OverflowError) as error:  # one sentence: what is wrong, and where
        raise HTTPException(422, str(error)) from None
    probabilities = dict(zip(map(str, classes), found.tolist()))
    return {"label": classes[found.argmax()], "probabilities": probabilities}
