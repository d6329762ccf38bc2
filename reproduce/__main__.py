"""Reproduction of the five papers.

python -m reproduce all                    everything that is missing of every paper, then verdicts
python -m reproduce verdicts               docs/results/reproduction.md from the recorded rows
python -m reproduce ldkl [--smoke]         rows, tables and figures of one paper; options of its run
python -m reproduce tune ldkl --dataset letter_halves --method ldkl
python -m reproduce per_seed ldkl --dataset banana --method ldkl
"""

import argparse
import subprocess
import sys
import time
from importlib import import_module

from reproduce import per_seed, tuning, verdicts

# Papers whose methods are tuned by a grid in config.toml.
TUNED = ("ldkl", "llc_sapl")


def run_all():
    """Run every paper in a process of its own; an interrupted run continues."""
    for name in verdicts.PAPERS:
        start = time.perf_counter()
        status = subprocess.run([sys.executable, "-m", "reproduce", name]).returncode
        print(f"{name}: {(time.perf_counter() - start) / 60:.1f} minutes", flush=True)
        if status:
            return status
    return verdicts.main()


def run_paper(name, arguments):
    """Rows and tables, then figures."""
    status = import_module(f"reproduce.{name}.run").main(arguments)
    if status or "--smoke" in arguments:
        return status
    return import_module(f"reproduce.{name}.figures").main([])


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="python -m reproduce",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "command", choices=["all", "verdicts", *verdicts.PAPERS, "tune", "per_seed"]
    )
    arguments = sys.argv[1:] if arguments is None else arguments
    command, rest = parser.parse_args(arguments[:1]).command, arguments[1:]
    if command in verdicts.PAPERS:
        return run_paper(command, rest)
    if command in ("tune", "per_seed"):
        parser = argparse.ArgumentParser(prog=f"python -m reproduce {command}")
        parser.add_argument("paper", choices=TUNED)
        study = import_module(f"reproduce.{parser.parse_args(rest[:1]).paper}.methods").STUDY
        return {"tune": tuning, "per_seed": per_seed}[command].main(study, rest[1:])
    return run_all() if command == "all" else verdicts.main()


if __name__ == "__main__":
    sys.exit(main())
