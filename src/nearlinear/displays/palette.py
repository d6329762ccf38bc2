"""Colors, marks, axes, headings, scales and legends that pictures share."""

# Marks tell what colors may not.
INK, QUIET, PALE = "#28323c", "#5b6b7b", "#dfe5ea"
CLASSES = ["#2b7a9b", "#d1495b", "#e0a030", "#5a9367", "#7d5ba6", "#8a6d4f", "#4f5d75", "#c779b0"]
MARKERS = "o^sDvPX*"


def point_size(n_points, largest=26.0):
    """Area of a mark in square points: smaller where there are many."""
    return min(max(9000.0 / n_points, 4.0), largest)


def axes_or_new(ax, figsize):
    """``ax``, or the axes of a new figure."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=figsize, layout="constrained")[1]


def dress(ax, title=None):
    """Quiet ticks and frame, and a heading."""
    ax.tick_params(colors=QUIET, labelcolor=INK, labelsize=8)
    ax.spines[:].set_color(QUIET)
    if title:
        ax.set_title(title, loc="left", fontweight="bold", color=INK)


def write_heading(ax, title, told):
    """What a picture tells in a line, alone or below a title."""
    if title is None:
        ax.set_title(told, loc="left", fontsize=10, color=INK)
        return
    ax.set_title(f"{title}\n", loc="left", fontweight="bold", color=INK)
    ax.annotate(
        told, (0, 1), xytext=(0, 6), xycoords="axes fraction", textcoords="offset points",
        fontsize=9, color=QUIET,
    )  # fmt: skip


def frame_plane(ax, xx0, xx1, names, size=None):
    """Ends and names of the axes of a grid over two features."""
    ax.set(xlim=xx0[0, [0, -1]], ylim=xx1[[0, -1], 0])
    ax.set_xlabel(names[0], color=INK, fontsize=size)
    ax.set_ylabel(names[1], color=INK, fontsize=size)


def color_bar(surface, ax, label=None, aspect=30, **options):
    """A scale without a frame."""
    first = ax if hasattr(ax, "figure") else ax[0]
    bar = first.figure.colorbar(surface, ax=ax, aspect=aspect, **options)
    bar.outline.set_visible(False)
    bar.ax.tick_params(colors=QUIET, labelcolor=INK, labelsize=8)
    if label:
        bar.set_label(label, color=INK, fontsize=9)
    return bar


def ink_on(color):
    """Dark type, or white on what is dark itself."""
    red, green, blue, _ = color
    return "white" if 0.3 * red + 0.59 * green + 0.11 * blue < 0.6 else INK


def draw_labeled(ax, points, targets, classes, size, **style):
    """Rows in the colors and marks of their classes."""
    style = {"edgecolor": "white", "s": size, **style}
    for label, color, marker in zip(classes, CLASSES, MARKERS):
        ax.scatter(*points[targets == label].T, color=color, marker=marker, label=label, **style)


def draw_circles(ax, points, size, zorder):
    """Around rows of that size which hold a model."""
    return ax.scatter(
        *points.T, s=3.2 * size + 14, facecolor="none", edgecolor=INK, linewidth=0.9, zorder=zorder
    )


def mark(label, marker, **style):
    """A mark in a legend."""
    from matplotlib.lines import Line2D

    return Line2D([], [], linestyle="none", marker=marker, label=label, **style)


def class_marks(classes):
    """The classes in a legend."""
    return [
        mark(f"class {label}", marker, color=color, markeredgecolor="white", ms=7)
        for label, color, marker in zip(classes, CLASSES, MARKERS)
    ]


def write_legend(owner, handles, loc, **options):
    """Handles without a frame; ``owner`` are axes or a figure."""
    options = {"fontsize": 8.5, "columnspacing": 1.4, "handletextpad": 0.4, **options}
    owner.legend(handles=handles, loc=loc, labelcolor=INK, frameon=False, **options)
