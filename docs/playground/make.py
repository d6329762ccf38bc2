"""Make the playground: fit its models, and put page, models and nearlinear.js into one file.

python docs/playground/make.py            # writes docs/playground/index.html
"""

import base64
import json
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits, make_moons

import nearlinear
from nearlinear.cli.demo import PENGUINS

HERE = Path(__file__).parent
MODULE = Path(nearlinear.__file__).parent / "js" / "nearlinear.js"
N_SAMPLES = 30  # digits to look at


def embedded(model):
    """A model file as text."""
    with tempfile.TemporaryDirectory() as folder:
        path = nearlinear.save(model, Path(folder) / "model.nlm")
        path = Path(folder) / "model.nlm" if path is None else path
        return base64.b64encode(Path(path).read_bytes()).decode("ascii")


def plane():
    """Models of two moons, and the rows that they learned."""
    X, y = make_moons(240, noise=0.2, random_state=0)
    names = np.array(["circle", "square"])
    box = [-1.7, 2.7, -1.4, 1.9]
    models = {
        "one linear model": nearlinear.NearLinearClassifier(
            families=["linear"], encoder=None, random_state=0
        ),
        "LLC-SAPL: 8 anchors, soft": nearlinear.LLCSAPLClassifier(n_anchors=8, random_state=0),
        "LDKL: a tree of linear models": nearlinear.LDKLClassifier(depth=3, random_state=0),
        "LocalForest: 5 trees": nearlinear.LocalForestClassifier(n_trees=5, random_state=0),
        "MLLKM: few local kernels": nearlinear.MLLKMClassifier(
            bandwidths=[2.0, 6.0], random_state=0
        ),
        "UniformMKL: a kernel machine": nearlinear.UniformMKLClassifier(),
    }
    found = []
    for name, model in models.items():
        has_line = model.fit(X, names[y]).explain(X[:1]).coefficients is not None
        entry = {"name": name, "box": box, "hasLine": has_line, "file": embedded(model)}
        found.append(entry)
    rows = [[round(a, 3), round(b, 3), int(label)] for (a, b), label in zip(X, y, strict=True)]
    return found, rows


def digits():
    """Models of small pictures, and a few pictures that they have not seen."""
    X, y = load_digits(return_X_y=True)
    seen = np.arange(len(y)) % 5 != 0
    models = {
        "LLC-SAPL: 30 anchors": nearlinear.LLCSAPLClassifier(n_anchors=30, random_state=0),
        "LDKL: trees of linear models": nearlinear.LDKLClassifier(depth=3, random_state=0),
        "LocalForest": nearlinear.LocalForestClassifier(
            grower="extra_trees", n_trees=8, pairs=0, random_state=0
        ),
    }
    found = []
    for name, model in models.items():
        model.fit(X[seen].astype(np.float32), y[seen])
        share = 100 * model.score(X[~seen].astype(np.float32), y[~seen])
        found.append({"name": f"{name} ({share:.1f} % right)", "file": embedded(model)})
    return found, X[~seen][:N_SAMPLES].astype(int).tolist()


def table():
    """A search on a raw table, and what is usual in its columns."""
    rows = pd.read_csv(PENGUINS).dropna(subset="body_mass_g")
    masses = rows.pop("body_mass_g").to_numpy()
    # families that say what each column adds
    families = ["piecewise linear", "anchors", "boosted trees"]
    model = nearlinear.NearLinearRegressor(families=families, max_bytes=60_000, random_state=0)
    model.fit(rows, masses)
    known = {}
    for name, column in rows.items():
        if column.dtype.kind in "if":
            known[name] = {
                "range": [float(column.min()), float(column.max())],
                "typical": float(column.median()),
            }
        else:
            values = sorted(column.dropna().unique())
            known[name] = {"values": values, "typical": str(column.mode()[0])}
    return {"file": embedded(model), "known": known}


def main():
    models = {"table": table()}
    models["plane"], models["rows"] = plane()
    models["digits"], models["samples"] = digits()
    # in a function, so that its names do not meet the page's
    module = MODULE.read_text("utf-8").replace("\nexport ", "\n")
    module = f"const {{ load }} = (() => {{\n{module}\nreturn {{ load }};\n}})();\n"
    page = (HERE / "page.html").read_text("utf-8")
    # "<" would end the script where a text holds "</script>"
    data = json.dumps(models, separators=(",", ":")).replace("<", "\\u003c")
    parts = {
        "page.css": (HERE / "page.css").read_text("utf-8"),
        "models": data,
        "page.js": module + (HERE / "page.js").read_text("utf-8"),
    }
    for name, text in parts.items():
        page = page.replace(f"/*{name}*/", text)
    (HERE / "index.html").write_text(page, "utf-8")
    print(f"{HERE / 'index.html'}: {len(page.encode()) / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
