"""Cost against rows, anchors and features: fit and prediction, with a picture of both."""

import warnings

import numpy as np

from benchmarks.report import FOLDER, Result, publish
from benchmarks.shapes import drawn
from reproduce.protocol import best_seconds, one_thread
from reproduce.written_out import llc_sapl_classifier

BASE = {"rows": 8000, "anchors": 64, "features": 32}
SIZES = {
    "rows": (4000, 8000, 16000, 32000, 64000),
    "anchors": (32, 64, 128, 256, 512),
    "features": (16, 32, 64, 128, 256),
}
EPOCHS = 3


def seconds_at(rows, anchors, features):
    """Seconds of a short fit and of a prediction of as many rows."""
    X, y = drawn(rows, features, n_classes=2)
    model = llc_sapl_classifier(n_anchors=anchors, n_neighbors=8, max_iter=EPOCHS, random_state=0)
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = best_seconds({"fit": lambda: model.fit(X, y)}, budget=3.0, max_repeats=3)["fit"]
        model.predict(X[:100])
        predict = best_seconds({"predict": lambda: model.predict(X)}, budget=1.0)["predict"]
    return fit, predict


def exponent(sizes, seconds):
    """p of the power law seconds ~ size^p: 1 is linear, less means that a part is constant."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def draw(measured):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, len(SIZES), figsize=(11, 6), squeeze=False)
    for column, (quantity, sizes) in enumerate(SIZES.items()):
        for axis, work, seconds in zip(
            axes[:, column], ("fit", "predict"), zip(*measured[quantity])
        ):
            line = np.polynomial.Polynomial.fit(sizes, seconds, 1)
            axis.plot((0, sizes[-1]), line(np.array([0, sizes[-1]])), "--", color="0.6")
            axis.plot(sizes, seconds, "o", color="C3")
            axis.set(xlabel=quantity, ylabel=f"{work} (s)", xlim=(0, None), ylim=(0, None))
    figure.suptitle("LLC-SAPL, one thread; broken: the best straight line")
    figure.tight_layout()
    FOLDER.mkdir(exist_ok=True)
    figure.savefig(FOLDER / "scaling.png", dpi=120)
    plt.close(figure)


def run():
    seconds_at(**BASE | {"rows": 1000})  # compiles
    measured, results = {}, []
    for quantity, sizes in SIZES.items():
        measured[quantity] = [seconds_at(**BASE | {quantity: size}) for size in sizes]
        for work, seconds in zip(("fit", "predict"), zip(*measured[quantity])):
            power = exponent(sizes, seconds)
            results.append(
                Result(f"{work} against {quantity}", "exponent of growth", power, target=1.1)
            )
    draw(measured)
    return results


if __name__ == "__main__":
    publish("scaling", run())
