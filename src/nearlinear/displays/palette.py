"""Colors and marks that pictures of labeled rows share; marks tell what colors may not."""

INK, QUIET, PALE = "#28323c", "#5b6b7b", "#dfe5ea"
CLASSES = ["#2b7a9b", "#d1495b", "#e0a030", "#5a9367", "#7d5ba6", "#8a6d4f", "#4f5d75", "#c779b0"]
MARKERS = "o^sDvPX*"


def point_size(n_points, largest=26.0):
    """Area of a mark in square points: smaller where there are many."""
    return min(max(9000.0 / n_points, 4.0), largest)


def dress(ax, title=None):
    """Quiet ticks and frame, and a heading."""
    ax.tick_params(colors=QUIET, labelcolor=INK, labelsize=8)
    ax.spines[:].set_color(QUIET)
    if title:
        ax.set_title(title, loc="left", fontweight="bold", color=INK)
