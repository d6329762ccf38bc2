"""Accuracy against prediction time, one curve for each family of models."""

from itertools import pairwise, product

import numpy as np

from benchmarks.front_points import front_of, hull_of, points_of
from benchmarks.front_sets import REGRESSIONS, SHAPES

INK, QUIET, FRONT = "#28323c", "#5b6b7b", "#dfe5ea"
GRAY, GREEN, BLUE, NIGHT, AMBER, PURPLE = (
    "#8a949e", "#4c8a5a", "#2b6f97", "#1d3f5e", "#c98a1b", "#7d5ba6"
)  # fmt: skip
# Ours are red. A hollow marker is a model in faster code, or fed with our pair columns.
STYLES = {
    "LocalForest": ("#c1121f", "d", True),
    "LDKL": ("#e76f51", "o", True),
    "LLC-SAPL": ("#f28482", "s", True),
    "DC-Pred": ("#9d4a54", "P", True),
    "MLLKM": ("#b56576", "X", True),
    "linear": (GRAY, "o", True),
    "decision tree": (GREEN, "s", True),
    "decision tree + pairs": (GREEN, "s", False),
    "extra trees": (GREEN, "P", True),
    "LightGBM": (BLUE, "o", True),
    "LightGBM + pairs": (BLUE, "o", False),
    "LightGBM (oneDAL)": (BLUE, "h", False),
    "HistGradientBoosting": (NIGHT, "p", True),
    "XGBoost": (NIGHT, "^", True),
    "CatBoost": (NIGHT, "v", True),
    "MLP": (AMBER, "X", True),
    "SVC": (PURPLE, "D", True),
    "SVC (oneDAL)": (PURPLE, "D", False),
    "Nyström": (PURPLE, "*", True),
}
MAIN = "LocalForest", "LDKL"  # whose sizes are written
TOGETHER = "covertype", "ijcnn1"
TICKS = (50, 60, 70, 75, 80, 85, 90, 92, 94, 95, 96, 97, 98, 98.5, 99, 99.5, 99.8, 99.9, 99.95)
# Where a label may stand, in points from its marker.
PLACES = [  # x, y
    (x, y)
    for distance in (6, 14, 24)
    for x, y in product((distance, -distance), (0, 6, -6, 14, -14))
]


def draw_all(rows, folder):
    """A picture of each set that has several models, and one of two sets."""
    points = {table: some for table, some in points_of(rows).items() if len(some) > 3}
    for table, some in points.items():
        _draw([(table, some)], folder / f"front_{table}.png")
    if set(TOGETHER) <= points.keys():
        _draw([(table, points[table]) for table in TOGETHER], folder / "front.png")


def _draw(panels, path):
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.4 * len(panels), 5.4), layout="constrained")
    FigureCanvasAgg(figure)
    every = np.atleast_1d(figure.subplots(1, len(panels)))
    for axes, (table, points) in zip(every, panels):
        _dress(axes, table, points)
    for axes, (_, points) in zip(every, panels):
        _fill(figure, axes, points)
    figure.savefig(path, dpi=140 if len(panels) == 1 else 110)


def _fill(figure, axes, points):
    """Each family is drawn by its best trade-offs, its other sizes are faint."""
    best, hull = front_of(points), hull_of(points)
    axes.plot(
        [*(point.us for point in hull), axes.get_xlim()[1]],
        [*(point.error for point in hull), hull[-1].error],
        color=FRONT, linewidth=8, solid_capstyle="round", zorder=1,
    )  # fmt: skip
    families, labels = {}, []
    for point in points:
        families.setdefault(point.family, []).append(point)
    for family, members in families.items():
        color, marker, is_full = STYLES[family]
        is_ours, trade_offs = members[0].is_ours, front_of(members)
        face = color if is_full else "white"
        others = [point for point in members if point not in trade_offs]
        axes.plot(
            [point.us for point in others], [point.error for point in others],
            linestyle="", marker=marker, markersize=3.5, alpha=0.35,
            color=color, markerfacecolor=face, zorder=2,
        )  # fmt: skip
        axes.plot(
            [point.us for point in trade_offs], [point.error for point in trade_offs],
            color=color, marker=marker, markersize=9 if family in MAIN else 6,
            markerfacecolor=face, linewidth=2.8 if family in MAIN else 1.2,
            markeredgecolor="white" if is_full else color,
            linestyle="-" if is_full else "--", zorder=4 if is_ours else 3,
        )  # fmt: skip
        # The family's name at its most accurate size; sizes where they tell something.
        *cheaper, top = trade_offs
        labels.append((top, top.title, color, is_ours))
        labels += [
            (point, point.size, color, is_ours)
            for point in cheaper
            if family in MAIN or point in best
        ]  # fmt: skip
    labels.sort(key=lambda label: (not label[-1], label[0].error))  # ours choose first
    _write(figure, axes, labels, points)


def _write(figure, axes, labels, points):
    """Each label where it covers least: no marker, no other label, little of the lines."""
    from matplotlib.patheffects import withStroke
    from matplotlib.transforms import Bbox

    figure.draw_without_rendering()
    markers = axes.transData.transform([(point.us, point.error) for point in points])
    half = 4 * figure.dpi / 72
    taken = [Bbox([spot - half, spot + half]) for spot in markers]
    lines = np.concatenate([_along(axes, line) for line in axes.get_lines()[1:]])  # not the front
    left, right = axes.get_window_extent().x0, axes.get_window_extent().x1
    for point, text, color, is_ours in labels:
        label = axes.annotate(
            text, (point.us, point.error), xytext=(0, 0), textcoords="offset points",
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


def _dress(axes, table, points):
    from matplotlib.ticker import FuncFormatter, NullFormatter

    is_regression, times = table in REGRESSIONS, [point.us for point in points]
    errors = [point.error for point in points]
    axes.set_xscale("log")
    axes.set_xlim(min(times) / 4, max(times) * 6)  # room for labels
    # half the errors are one step up, whether of 10 % or of 1 %
    axes.set_yscale("log")
    low, high = min(errors) / 1.25, max(errors) * 1.15
    axes.set_ylim(high, low)
    axes.yaxis.set_minor_formatter(NullFormatter())
    if is_regression:
        ticks = np.geomspace(low * 1.2, high / 1.1, 6)
        axes.set_yticks(ticks, [f"{tick:.3g}" for tick in ticks], minor=False)
    else:
        ticks = [tick for tick in TICKS if low <= 100 - tick <= high]
        axes.set_yticks([100 - tick for tick in ticks], [f"{tick:g}" for tick in ticks])
    axes.yaxis.set_tick_params(which="minor", length=0)
    axes.xaxis.set_major_formatter(FuncFormatter(_time_text))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("prediction of a row, CPU time of one thread (log scale)", color=INK)
    label = "test mean squared error" if is_regression else "test accuracy, %"
    axes.set_ylabel(label, color=INK)
    n_train, _, n_features, _ = SHAPES[table]
    title = f"{table}: {n_train:,} training rows, {n_features} features"
    axes.set_title(title, loc="left", fontweight="bold", color=INK)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(QUIET)
    axes.tick_params(which="both", colors=QUIET)
    axes.grid(axis="y", color=FRONT, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.text(
        0.0, -0.16, "red: ours; pale line: convex hull of the front; hollow: with our pair "
        "columns, or through oneDAL; faint: sizes that a faster one beats",
        transform=axes.transAxes, ha="left", va="top", fontsize=7.5, color=QUIET,
    )  # fmt: skip


def _time_text(microseconds, _):
    return f"{microseconds:g} µs" if microseconds >= 1 else f"{1000 * microseconds:g} ns"
