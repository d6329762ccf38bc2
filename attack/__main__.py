"""All parts, or those named; ``python -m attack --smoke`` tries a little of each."""

import argparse
import tempfile
import time
from importlib import import_module
from pathlib import Path

from .report import FOLDER, save, show

# How much each part tries: all of it in under 20 minutes on two cores, and a smoke run.
PARTS = {
    "files": (20_000, 20),
    "kills": (200, 4),
    "threads": (64_000, 64),
    "forks": (140, 2),
    "caches": (30, 1),
    "ctrl_c": (36, 1),
    "inputs": (6000, 60),
    "memory": (26, 1),
}


def main(words=None):
    parser = argparse.ArgumentParser(prog="python -m attack", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--smoke", action="store_true", help="a little, to a temporary folder")
    parser.add_argument("--folder", type=Path, help="where the results go (default: attack/)")
    options = parser.parse_args(words)
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    folder, failed = options.folder or FOLDER, 0
    if options.smoke and options.folder is None:
        folder = Path(tempfile.mkdtemp(prefix="nearlinear-attack-"))
    for part in options.parts or PARTS:
        start = time.perf_counter()
        counts = import_module(f"attack.{part}").run(PARTS[part][options.smoke])
        seconds = time.perf_counter() - start
        save(part, counts, seconds, folder)
        show(part, counts, seconds)
        failed += sum(len(count.findings) for count in counts)
    print(f"{failed} tries failed; written to {folder / 'results.md'}")
    return failed > 0


if __name__ == "__main__":
    raise SystemExit(main())
