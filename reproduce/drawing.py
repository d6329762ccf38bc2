"""The command line of the figures, and how they are saved."""

import argparse
import sys
import tempfile
from pathlib import Path

import matplotlib

from reproduce.datasets import DatasetError

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def save_figure(figure, path):
    if figure.get_layout_engine() is None:
        figure.tight_layout()
    figure.savefig(path, dpi=130)
    plt.close(figure)


def main(study, figures, draw_small, arguments=None):
    """Draw those figures of a study that are asked for: ``figures[number](folder, n_seeds)``.

    ``draw_small(folder)`` draws all of them on small data.
    """
    parser = argparse.ArgumentParser(
        prog=f"python -m {study.module}.figures",
        description="Draw the figures of the paper. What was measured for them before is kept.",
    )
    parser.add_argument(
        "figures", nargs="*", type=int, metavar="NUMBER", help="all, if none is given"
    )
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--results", type=Path, default=study.results, help="folder to write to")
    parser.add_argument("--smoke", action="store_true", help="small data, a temporary folder")
    options = parser.parse_args(arguments)
    if unknown := set(options.figures) - set(figures):
        parser.error(f"there is no figure {min(unknown)}")
    if options.smoke:
        with tempfile.TemporaryDirectory() as name:
            draw_small(Path(name))
        return 0
    options.results.mkdir(parents=True, exist_ok=True)
    try:
        for number in options.figures or sorted(figures):
            figures[number](options.results, options.seeds)
    except DatasetError as error:
        print(error, file=sys.stderr)
        return 2
    return 0
