"""Runs program.py with supported combinations of libraries, each in its own environment.

``python -m tests.versions --folder .venv/versions oldest newest``; no names mean all combinations.
Environments are kept: a second run installs nothing. A combination whose Python is missing is
reported as "not run".
"""

import argparse
import glob
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from .combinations import ADDITIONAL, COMBINATIONS

ROOT = Path(__file__).parents[2]
RESOLUTIONS = {"oldest": "lowest-direct", "newest": "highest"}
SHOWN = ("numpy", "scipy", "scikit-learn", "numba", "pandas")
NOT_RUN = "not run"


def find_python(version):
    """An interpreter of this minor version: on the path, or among those of pyenv; else None."""
    pyenv = os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv"
    installed = glob.glob(f"{glob.escape(str(pyenv))}/versions/{version}.*/bin/python")
    for python in (sys.executable, shutil.which(f"python{version}"), *sorted(installed)):
        if python is None:
            continue
        question = "import sys; print('%d.%d' % sys.version_info[:2])"
        answer = subprocess.run([python, "-c", question], capture_output=True, text=True)
        if answer.stdout.strip() == version:  # a launcher of pyenv may refuse to start it
            return python
    return None


def prepare(combination, interpreter, folder):
    """Python of the environment, which is made where it is missing or has other requirements."""
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    stamp = folder / ".installed"
    pyproject = ROOT / "pyproject.toml"
    wanted = f"{combination}\n{ADDITIONAL}\n{interpreter}\n{pyproject.read_text('utf-8')}"
    if stamp.exists() and stamp.read_text("utf-8") == wanted:
        return python
    uv = [sys.executable, "-m", "uv", "--quiet"]
    clear = ["--clear"] if (folder / "pyvenv.cfg").exists() else []
    subprocess.run([*uv, "venv", *clear, "--python", interpreter, str(folder)], check=True)
    numpy = [] if combination.numpy == "*" else [f"numpy=={combination.numpy}"]
    install = [
        *uv, "pip", "install", "--python", str(python), "--only-binary", ":all:",
        "--resolution", RESOLUTIONS[combination.others], "--requirements", str(pyproject),
        "--extra", "onnx", "--extra", "plot", *numpy, *ADDITIONAL, *combination.pins,
    ]  # fmt: skip
    subprocess.run(install, check=True, cwd=ROOT)
    stamp.write_text(wanted, "utf-8")
    return python


def compiled_folder(folder):
    """Folder of compiled code, named after the sources.

    numba does not notice a change in a compiled function that another file calls.
    """
    sources = hashlib.sha256()
    for path in sorted((ROOT / "src").rglob("*.py")):
        sources.update(path.read_bytes())
    compiled = folder / "compiled" / sources.hexdigest()[:16]
    if not compiled.exists():
        shutil.rmtree(folder / "compiled", ignore_errors=True)
    return compiled


def run(combination, folder):
    """The result in a word, and the versions that were installed."""
    interpreter = find_python(combination.python)
    if interpreter is None:
        return f"{NOT_RUN}: there is no Python {combination.python}", {}
    folder = folder / combination.name
    try:
        python = prepare(combination, interpreter, folder)
    except subprocess.CalledProcessError:
        return "FAILED: not installed", {}
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "NUMBA"))}
    environment |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    environment |= {
        "PYTHONPATH": str(ROOT / "src"), "NUMBA_CACHE_DIR": str(compiled_folder(folder))
    }  # fmt: skip
    program = Path(__file__).with_name("program.py")
    with subprocess.Popen(
        [str(python), str(program)], env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        versions = process.stdout.readline()
        for line in process.stdout:
            print("  ", line, end="", flush=True)
    return "FAILED" if process.returncode else "passed", json.loads(versions or "{}")


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.versions", description=__doc__)
    names = [c.name for c in COMBINATIONS]
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(names))
    parser.add_argument("--folder", type=Path, required=True, help="folder of the environments")
    options = parser.parse_args()
    if unknown := set(options.names) - set(names):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(names)}")
    results = {}
    for combination in COMBINATIONS:
        if combination.name not in (options.names or names):
            continue
        start = time.perf_counter()
        print(combination.name, flush=True)
        result, versions = run(combination, options.folder.absolute())
        seconds = time.perf_counter() - start
        results[combination.name] = result
        shown = ", ".join(f"{name} {versions[name]}" for name in SHOWN if versions)
        print(f"  {result} ({seconds:.0f} s): Python {combination.python}, {shown}", flush=True)
    return exit_status(results)


def exit_status(results):
    """0 where nothing failed and the oldest or the newest combination, if asked for, did run."""
    print(*(f"{name}: {result}" for name, result in results.items()), sep="\n")
    ends = [r for name, r in results.items() if name in ("oldest", "newest")] or results.values()
    none_ran = all(result.startswith(NOT_RUN) for result in ends)
    return int(none_ran or any(result.startswith("FAILED") for result in results.values()))


if __name__ == "__main__":
    sys.exit(main())
