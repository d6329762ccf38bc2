"""Bare environments with the lowest and the newest versions of what we stand on.

uv makes them with the Python that runs this. "lowest" has the lowest version that pyproject.toml
allows of each direct dependency, of those that have a wheel for this Python.
"""

import os
import subprocess
import sys
import tempfile
import zipfile
from email.parser import HeaderParser
from pathlib import Path

from release.artifacts import wheel
from release.findings import complaint
from release.versions import ROOT

RESOLUTIONS = {"lowest": "lowest-direct", "newest": "highest"}
SMOKE = ROOT / "release" / "smoke.py"
_EXTRA = "; extra == 'all'"


def requirements(with_extras):
    """What the wheel says that it needs, bare or with all extras."""
    with zipfile.ZipFile(wheel()) as file:
        name = next(one for one in file.namelist() if one.endswith(".dist-info/METADATA"))
        told = HeaderParser().parsestr(file.read(name).decode()).get_all("Requires-Dist")
    needed = [one for one in told if "extra ==" not in one]
    if with_extras:
        needed += [one.removesuffix(_EXTRA) for one in told if one.endswith(_EXTRA)]
    return needed


def smoke_objections(artifact, versions):
    """Install one file bare and look at it, then with its extras, and run the README's program."""
    with tempfile.TemporaryDirectory(prefix="nearlinear-release-") as folder:
        python = Path(folder) / "env" / ("Scripts" if os.name == "nt" else "bin") / "python"
        uv = [sys.executable, "-m", "uv", "--quiet"]
        make = [*uv, "venv", "--python", sys.executable, python.parents[1]]
        install = [
            *uv, "pip", "install", "--python", python, "--resolution", RESOLUTIONS[versions],
            "--only-binary", ":all:",
        ]  # fmt: skip
        own = [*uv, "pip", "install", "--python", python, "--no-deps", artifact]
        # outside of the repository, so that the installed package is what is imported
        where = {"cwd": folder, "env": _environment(folder)}
        steps = (
            ("making an environment", make),
            ("installing what is needed", [*install, *requirements(with_extras=False)]),
            ("installing the file", own),
            ("the bare package", [python, SMOKE]),
            ("installing the extras", [*install, *requirements(with_extras=True)]),
            ("the package with extras", [python, SMOKE, ROOT / "README.md"]),
        )
        for name, command in steps:
            if wrong := complaint(
                f"{artifact.name}, {versions} versions: {name}", command, **where
            ):
                return [*wrong, f"       installed: {_installed(python)}"]
    return []


def _environment(folder):
    """No path of ours, compiled code in the folder, one thread."""
    kept = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    return kept | one | {"NUMBA_CACHE_DIR": str(Path(folder) / "compiled"), "MPLBACKEND": "agg"}


def _installed(python):
    listed = subprocess.run(
        [sys.executable, "-m", "uv", "pip", "freeze", "--python", python],
        capture_output=True, text=True, check=False,
    ).stdout.split()  # fmt: skip
    return ", ".join(one for one in listed if "==" in one)
