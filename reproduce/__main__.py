"""All five papers: ``python -m reproduce all`` and ``python -m reproduce verdicts``.

all        what is not there yet of every paper: rows, tables and figures; then the verdicts
verdicts   docs/results/reproduction.md from the rows that are there
"""

import argparse
import subprocess
import sys
import time

from reproduce import verdicts


def run_all():
    """Every paper in a process of its own; what was stopped goes on where it was."""
    for name in verdicts.PAPERS:
        start = time.perf_counter()
        status = subprocess.run([sys.executable, "-m", f"reproduce.{name}"]).returncode
        print(f"reproduce.{name}: {(time.perf_counter() - start) / 60:.1f} minutes", flush=True)
        if status:
            return status
    return verdicts.main()


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="python -m reproduce",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = {"all": run_all, "verdicts": verdicts.main}
    parser.add_argument("command", choices=commands)
    return commands[parser.parse_args(arguments).command]()


if __name__ == "__main__":
    sys.exit(main())
