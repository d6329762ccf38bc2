"""Accuracy against prediction time, one curve per family of models."""

import numpy as np

INK, QUIET, FRONT = "#28323c", "#5b6b7b", "#dfe5ea"
OURS = "#d1495b"
OTHERS = ["#8a949e", "#2b7a9b", "#5a9367", "#e0a030", "#7d5ba6"]
MARKERS = "ods^vP"
TICKS = (50, 60, 70, 75, 80, 85, 90, 92, 94, 95, 96, 97, 98, 98.5, 99, 99.5, 99.8)


def draw_front(title, points, ours, path):
    """Write a picture; what no model reaches so cheaply is shaded."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.8, 4.8), layout="constrained")
    axes = figure.subplots()
    _shade_front(axes, points)
    families = {}
    for point in points:
        families.setdefault(point.family, []).append(point)
    colors = iter(OTHERS)
    for (family, members), marker in zip(families.items(), MARKERS):
        is_ours = family == ours
        color = OURS if is_ours else next(colors)
        members = sorted(members, key=lambda point: point.nanoseconds)
        axes.plot(
            [point.nanoseconds for point in members],
            [point.accuracy for point in members],
            color=color,
            marker=marker,
            markersize=8 if is_ours else 6,
            linewidth=2.6 if is_ours else 1.6,
            markeredgecolor="white",
            label=family,
            zorder=4 if is_ours else 3,
        )
        _write_sizes(axes, members, color, above=is_ours)
    _dress(axes, title)
    figure.savefig(path, dpi=140)


def _shade_front(axes, points):
    best, steps = -1.0, []
    for point in sorted(points, key=lambda point: (point.nanoseconds, -point.accuracy)):
        if point.accuracy > best:
            best = point.accuracy
            steps.append((point.nanoseconds, best))
    times, accuracies = zip(*[*steps, (1e9, best)])
    axes.step(times, accuracies, where="post", color=FRONT, linewidth=7, zorder=1)


def _write_sizes(axes, members, color, above):
    """Ours to the upper left of their points, where no faster model stands, others below."""
    from matplotlib.patheffects import withStroke

    for point in members:
        axes.annotate(
            point.size,
            (point.nanoseconds, point.accuracy),
            xytext=(-6, 3) if above else (3, -6),
            textcoords="offset points",
            ha="right" if above else "left",
            va="bottom" if above else "top",
            fontsize=7,
            color=color,
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
            zorder=2,
        )


def _dress(axes, title):
    from matplotlib.ticker import FuncFormatter, NullFormatter

    lines = axes.get_lines()[1:]  # the first is the front
    times = [time for line in lines for time in line.get_xdata()]
    low, high = (extreme([extreme(line.get_ydata()) for line in lines]) for extreme in (min, max))
    axes.set_xscale("log")
    axes.set_xlim(min(times) / 2.5, max(times) * 4)
    # half the errors are one step up, whether of 10 % or of 1 %
    axes.set_yscale("function", functions=(_steps_up, _steps_down))
    axes.set_ylim(_steps_down(_steps_up(low) - 0.3), _steps_down(_steps_up(high) + 0.3))
    axes.set_yticks([tick for tick in TICKS if axes.get_ylim()[0] <= tick <= axes.get_ylim()[1]])
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("prediction, ns per row, one thread (log scale)", color=INK)
    axes.set_ylabel("test accuracy, %", color=INK)
    axes.set_title(title, loc="left", fontweight="bold", color=INK)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(QUIET)
    axes.tick_params(which="both", colors=QUIET)
    axes.grid(axis="y", color=FRONT, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.legend(loc="lower right", frameon=False, labelcolor=INK)


def _steps_up(accuracy):
    return -np.log2(np.maximum(100.0 - np.asarray(accuracy, dtype=float), 1e-3))


def _steps_down(steps):
    return 100.0 - 2.0 ** -np.asarray(steps, dtype=float)
