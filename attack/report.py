"""Counts of what was tried and what failed: kept as JSON, shown as a page and a table."""

import json
import os
import platform
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import nearlinear

FOLDER = Path(__file__).parent


@dataclass
class Count:
    """One line: what was tried, how often, what came of it, and what should not have."""

    what: str
    tried: int = 0
    outcomes: Counter = field(default_factory=Counter)
    findings: list = field(default_factory=list)

    def add(self, outcome, finding=None):
        """One more try; ``finding`` says what was wrong with it and how to see it again."""
        self.tried += 1
        self.outcomes[outcome] += 1
        if finding is not None:
            # places in the code as a reader of the repository finds them
            self.findings.append(finding.replace(f"{FOLDER.parent}/", ""))


def save(part, counts, seconds, folder=FOLDER):
    """Put the counts of a part in place of earlier ones, and write the page anew."""
    path = folder / "results.json"
    parts = json.loads(path.read_text("utf-8")) if path.exists() else {}
    parts[part] = {
        "seconds": round(seconds),
        "version": nearlinear.__version__,
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "counts": [vars(count) for count in counts],
    }
    path.write_text(json.dumps(parts, indent=1) + "\n", encoding="utf-8")
    (folder / "results.md").write_text(_page(parts), encoding="utf-8")


def rows(part, counts):
    """Cells of a table: part, what was tried, how often, how often it failed, what came of it."""
    for count in counts:
        came = ", ".join(f"{number:,} {name}" for name, number in count["outcomes"].items())
        tried, failed = f"{count['tried']:,}", f"{len(count['findings']):,}"
        yield part, count["what"], tried, failed, came


def show(part, counts, seconds):
    """Print the lines of one part."""
    for row in rows(part, map(vars, counts)):
        print("{:8} {:62} tried {:>7}  failed {:>3}   {}".format(*row))
    for count in counts:
        for finding in count.findings[:20]:
            print(f"  FAILED {count.what}: {finding}")
    print(f"  {seconds:.0f} s", flush=True)


def _page(parts):
    lines = [
        "# Attacks, tried and counted",
        "",
        "Written by `make attack`. What each part does stands in `attack/__init__.py`; a try that",
        "failed is listed below with what is needed to see it again.",
        "",
        "| part | what was tried | tried | failed | what came of it |",
        "| --- | --- | ---: | ---: | --- |",
    ]
    for part, found in parts.items():
        lines += [f"| {' | '.join(row)} |" for row in rows(part, found["counts"])]
    lines += ["", "## Failed", ""]
    failed = [
        f"- {part}, {count['what']}: {finding}"
        for part, found in parts.items()
        for count in found["counts"]
        for finding in count["findings"]
    ]
    lines += [*(failed or ["Nothing."]), "", "## Runs", ""]
    for part, found in parts.items():
        machine = f"Python {found['python']}, {found['cores']} cores"
        lines.append(f"- {part}: {found['seconds']} s (nearlinear {found['version']}, {machine})")
    return "\n".join(lines) + "\n"
