"""What other people's checkers say of the files."""

import sys
from pathlib import Path

from release.artifacts import sdist, wheel
from release.findings import complaint
from release.versions import ROOT


def objections():
    """Names, texts and links that the package index shows, the wheel's form, pyproject.toml."""
    files = [str(wheel()), str(sdist())]
    programs = Path(sys.executable).parent
    return [
        *complaint("twine", [sys.executable, "-m", "twine", "check", "--strict", *files]),
        *complaint("check-wheel-contents", [programs / "check-wheel-contents", files[0]]),
        *complaint(
            "validate-pyproject", [programs / "validate-pyproject", ROOT / "pyproject.toml"]
        ),
        *complaint(
            "cffconvert", [programs / "cffconvert", "--validate", "-i", ROOT / "CITATION.cff"]
        ),
    ]
