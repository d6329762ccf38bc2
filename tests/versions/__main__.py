"""Runs program.py with supported combinations of libraries, each in its own environment.

``python -m tests.versions --folder .venv/versions oldest newest``; no names mean all combinations.
Environments are kept: a second run installs nothing. A combination whose Python is missing is
reported as "not run".
"""

import argparse
import glob
import hashlib
import os
import shutil
import subprocess
import sys
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from .combinations import ADDITIONAL, COMBINATIONS

ROOT = Path(__file__).parents[2]
RESOLUTIONS = {"oldest": "lowest-direct", "newest": "highest"}
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
    project = tomllib.loads(pyproject.read_text("utf-8"))["project"]
    bounds = project["dependencies"], project["optional-dependencies"], ADDITIONAL
    wanted = f"{combination} {interpreter} {bounds}"
    if stamp.exists() and stamp.read_text("utf-8") == wanted:
        return python
    uv = [sys.executable, "-m", "uv", "--quiet"]
    clear = ["--clear"] if (folder / "pyvenv.cfg").exists() else []
    capture([*uv, "venv", *clear, "--python", interpreter, folder], check=True)
    numpy = [] if combination.numpy == "*" else [f"numpy=={combination.numpy}"]
    install = [
        *uv, "pip", "install", "--python", python, "--only-binary", ":all:",
        "--resolution", RESOLUTIONS[combination.others], "--requirements", pyproject,
        "--extra", "onnx", "--extra", "plot", *numpy, *ADDITIONAL,
    ]  # fmt: skip
    capture(install, check=True)
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
    """The result in a word, and the output with the installed versions in its first line."""
    interpreter = find_python(combination.python)
    if interpreter is None:
        return f"{NOT_RUN}: there is no Python {combination.python}", ""
    folder = folder / combination.name
    try:
        python = prepare(combination, interpreter, folder)
    except subprocess.CalledProcessError as error:
        return "FAILED to install", error.stdout
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "NUMBA"))}
    environment |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    environment |= {
        "PYTHONPATH": str(ROOT / "src"), "NUMBA_CACHE_DIR": str(compiled_folder(folder))
    }  # fmt: skip
    program = Path(__file__).with_name("program.py")
    done = capture([python, program], env=environment, check=False)
    return "FAILED" if done.returncode else "passed", done.stdout


def capture(command, **options):
    """Run a command; standard output and standard error are captured together."""
    return subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8",
        **options,
    )  # fmt: skip


def timed(combination, folder):
    start = time.perf_counter()
    result, output = run(combination, folder)
    return combination.name, f"{result} ({time.perf_counter() - start:.0f} s)", output


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.versions", description=__doc__)
    names = [c.name for c in COMBINATIONS]
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(names))
    parser.add_argument("--folder", type=Path, required=True, help="folder of the environments")
    parser.add_argument("--jobs", type=int, default=1, help="combinations at the same time")
    options = parser.parse_args()
    if unknown := set(options.names) - set(names):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(names)}")
    chosen = [c for c in COMBINATIONS if c.name in (options.names or names)]
    results = {}
    with ThreadPoolExecutor(options.jobs) as pool:
        jobs = [pool.submit(timed, c, options.folder.absolute()) for c in chosen]
        for job in as_completed(jobs):
            name, result, output = job.result()
            results[name] = result
            print(f"{name}: {result}", *(f"  {line}" for line in output.splitlines()), sep="\n")
            sys.stdout.flush()
    return exit_status(results)


def exit_status(results):
    """0 where nothing failed and the oldest or the newest combination, if asked for, did run."""
    print(*(f"{name}: {result}" for name, result in results.items()), sep="\n")
    ends = [r for name, r in results.items() if name in ("oldest", "newest")] or results.values()
    none_ran = all(result.startswith(NOT_RUN) for result in ends)
    return int(none_ran or any(result.startswith("FAILED") for result in results.values()))


if __name__ == "__main__":
    sys.exit(main())
