"""Accuracy against prediction time, one curve per family of models.

``python -m benchmarks.tree_front_picture`` draws the pictures again from the recorded rows.
"""

import json
from itertools import pairwise, product
from types import SimpleNamespace

import numpy as np

from benchmarks.report import FOLDER

INK, QUIET, FRONT = "#28323c", "#5b6b7b", "#dfe5ea"
RED, GRAY, GREEN, BLUE, AMBER, PURPLE = (
    "#d1495b", "#8a949e", "#4c8a5a", "#2b6f97", "#c98a1b", "#7d5ba6"
)  # fmt: skip
# One color for each kind of model; a hollow marker is the same model in faster code.
STYLES = {
    "LDKL": (RED, "d", True),
    "linear": (GRAY, "o", True),
    "decision tree": (GREEN, "s", True),
    "extra trees": (GREEN, "P", True),
    "LightGBM": (BLUE, "o", True),
    "LightGBM (oneDAL)": (BLUE, "o", False),
    "XGBoost": (BLUE, "^", True),
    "CatBoost": (BLUE, "v", True),
    "MLP": (AMBER, "X", True),
    "SVC": (PURPLE, "D", True),
    "SVC (oneDAL)": (PURPLE, "D", False),
}
OURS = "LDKL"
TITLES = {
    "ijcnn1": "ijcnn1: 49,990 training rows, 22 features",
    "letter_halves": "letter A–M / N–Z: 12,000 training rows, 16 features",
    "magic04": "magic04: 14,226 training rows, 10 features",
    "covertype": "covertype: 522,910 training rows, 54 features",
}
TICKS = (50, 60, 70, 75, 80, 85, 90, 92, 94, 95, 96, 97, 98, 98.5, 99, 99.5, 99.8)
# Where a label may stand, in points from its marker.
PLACES = [  # x, y
    (x, y)
    for distance in (6, 14, 24)
    for x, y in product((distance, -distance), (0, 6, -6, 14, -14))
]


def draw_front(name, points, path):
    """Write a picture; each family is drawn by its best trade-offs, its other sizes are faint."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.4, 5.4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    _dress(axes, TITLES[name], points)
    best = front_of(points)
    times, accuracies = zip(*[(point.nanoseconds, point.accuracy) for point in best])
    axes.step(
        (*times, 1e9), (*accuracies, accuracies[-1]),
        where="post", color=FRONT, linewidth=7, zorder=1,
    )  # fmt: skip
    families = {}
    for point in points:
        families.setdefault(point.family, []).append(point)
    labels = []
    for family, members in families.items():
        color, marker, is_full = STYLES[family]
        is_ours, trade_offs = family == OURS, front_of(members)
        face = color if is_full else "white"
        others = [point for point in members if point not in trade_offs]
        axes.plot(
            [point.nanoseconds for point in others], [point.accuracy for point in others],
            linestyle="", marker=marker, markersize=3.5, alpha=0.35,
            color=color, markerfacecolor=face, zorder=2,
        )  # fmt: skip
        axes.plot(
            [point.nanoseconds for point in trade_offs], [point.accuracy for point in trade_offs],
            color=color, marker=marker, markersize=9 if is_ours else 6, markerfacecolor=face,
            linewidth=2.8 if is_ours else 1.2, markeredgecolor="white" if is_full else color,
            linestyle="-" if is_full else "--", zorder=4 if is_ours else 3,
        )  # fmt: skip
        # The family's name at its most accurate size; sizes where they tell something.
        *cheaper, top = trade_offs
        labels.append((top, f"{family} {top.size}".strip(), color, is_ours))
        labels += [
            (point, point.size, color, is_ours)
            for point in cheaper
            if is_ours or point in best
        ]  # fmt: skip
    labels.sort(key=lambda label: (not label[-1], -label[0].accuracy))  # ours choose first
    _write(figure, axes, labels, points)
    figure.savefig(path, dpi=140)


def front_of(points):
    """Those that no faster one matches in accuracy, the fastest first."""
    best, front = -1.0, []
    for point in sorted(points, key=lambda point: (point.nanoseconds, -point.accuracy)):
        if point.accuracy > best:
            best = point.accuracy
            front.append(point)
    return front


def _write(figure, axes, labels, points):
    """Each label where it covers least: no marker, no other label, little of the lines."""
    from matplotlib.patheffects import withStroke
    from matplotlib.transforms import Bbox

    figure.draw_without_rendering()
    markers = axes.transData.transform([(point.nanoseconds, point.accuracy) for point in points])
    half = 4 * figure.dpi / 72
    taken = [Bbox([spot - half, spot + half]) for spot in markers]
    lines = np.concatenate([_along(axes, line) for line in axes.get_lines()[1:]])  # not the front
    left, right = axes.get_window_extent().x0, figure.bbox.x1
    for point, text, color, is_ours in labels:
        label = axes.annotate(
            text, (point.nanoseconds, point.accuracy), xytext=(0, 0), textcoords="offset points",
            fontsize=9.5 if is_ours else 8, fontweight="bold" if is_ours else "normal",
            color=color, path_effects=[withStroke(linewidth=2.5, foreground="white")], zorder=5,
        )  # fmt: skip
        costs = []
        for x, y in PLACES:
            _move(label, (x, y))
            box = label.get_window_extent()
            is_outside = box.x0 < left or box.x1 > right
            n_covered = sum(box.overlaps(other) for other in taken)
            of_lines = np.all((lines > box.min) & (lines < box.max), axis=1).sum() / 3
            # Ours stand to the left, where no faster model is.
            side = x > 0 if is_ours else x < 0
            costs.append(
                1000 * is_outside + 100 * n_covered + of_lines + 2 * side + (abs(x) + abs(y)) / 8
            )
        _move(label, PLACES[int(np.argmin(costs))])
        taken.append(label.get_window_extent())


def _along(axes, line):
    """Spots on a drawn line, three pixels apart."""
    corners = axes.transData.transform(line.get_xydata())
    spots = [np.empty((0, 2))]
    for start, end in pairwise(corners):
        n_spots = int(np.hypot(*(end - start)) / 3) + 1
        spots.append(np.linspace(start, end, n_spots))
    return np.concatenate(spots) if line.get_linestyle() != "None" else spots[0]


def _move(label, place):
    label.xyann = place
    label.set(ha="left" if place[0] > 0 else "right", va="center")


def _dress(axes, title, points):
    from matplotlib.ticker import FuncFormatter, NullFormatter

    times = [point.nanoseconds for point in points]
    low, high = (extreme(point.accuracy for point in points) for extreme in (min, max))
    axes.set_xscale("log")
    axes.set_xlim(min(times) / 4, max(times) * 6)  # room for labels
    # half the errors are one step up, whether of 10 % or of 1 %
    axes.set_yscale("function", functions=(_steps_up, _steps_down))
    axes.set_ylim(_steps_down(_steps_up(low) - 0.3), _steps_down(_steps_up(high) + 0.3))
    axes.set_yticks([tick for tick in TICKS if axes.get_ylim()[0] <= tick <= axes.get_ylim()[1]])
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_major_formatter(FuncFormatter(_time_text))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("prediction of a row, CPU time of one thread (log scale)", color=INK)
    axes.set_ylabel("test accuracy, %", color=INK)
    axes.set_title(title, loc="left", fontweight="bold", color=INK)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(QUIET)
    axes.tick_params(which="both", colors=QUIET)
    axes.grid(axis="y", color=FRONT, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.text(
        0.99, 0.02, "hollow: the same model through oneDAL\nfaint: sizes that a faster one beats",
        transform=axes.transAxes, ha="right", va="bottom", fontsize=8, color=QUIET,
    )  # fmt: skip


def _time_text(nanoseconds, _):
    return f"{nanoseconds:g} ns" if nanoseconds < 1000 else f"{nanoseconds / 1000:g} µs"


def _steps_up(accuracy):
    return -np.log2(np.maximum(100.0 - np.asarray(accuracy, dtype=float), 1e-3))


def _steps_down(steps):
    return 100.0 - 2.0 ** -np.asarray(steps, dtype=float)


def recorded_points(folder=FOLDER):
    """The points of each set, read from the results of the last run."""
    values = {}
    for line in (folder / "tree_front.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        title, _, quantity = row["quantity"].rpartition(", ")
        if quantity in ("time of a row", "accuracy"):
            values.setdefault((row["case"], title), {})[quantity] = row["value"]
    points = {}
    for (case, title), value in values.items():
        # The longest: "LightGBM (oneDAL)" begins with "LightGBM".
        family = max((family for family in STYLES if title.startswith(family)), key=len)
        point = SimpleNamespace(
            family=family, size=title.removeprefix(family).strip(),
            nanoseconds=value["time of a row"], accuracy=value["accuracy"],
        )  # fmt: skip
        points.setdefault(case, []).append(point)
    return points


if __name__ == "__main__":
    for name, found in recorded_points().items():
        draw_front(name, found, FOLDER / f"tree_front_{name}.png")
