"""Smoke test of an installed package; needs nothing except the package and its extras.

``python -P tests/smoke.py README.md`` imports all public names with warnings as errors, saves and
loads a model, runs the console script and the Python blocks of the pages. ``-P`` keeps this folder
out of the module search path.
"""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import warnings
from pathlib import Path

# Warnings of dependencies come and go with their versions.
PACKAGE = r"nearlinear(\..*)?"


def import_package():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        import nearlinear
    for name in nearlinear.__all__:
        getattr(nearlinear, name)
    root = Path(nearlinear.__file__).parent
    for name in ("py.typed", "js/nearlinear.js"):
        assert (root / name).exists(), f"{name} is not installed"
    return nearlinear.__version__


def save_and_load_model():
    from sklearn.datasets import load_iris

    from nearlinear import LDKLClassifier, load, runtime, save

    X, y = load_iris(return_X_y=True)
    model = LDKLClassifier(2, random_state=0).fit(X, y)
    save(model, "model.nlm")
    assert (load("model.nlm").predict(X) == model.predict(X)).all()
    assert (runtime.load("model.nlm").predict(X) == model.predict(X)).all()


def run_console_script(version):
    # The script of this environment, not the first one on the search path.
    command = shutil.which("nearlinear", path=sysconfig.get_path("scripts"))
    assert command, "the console script nearlinear is not installed"
    output = subprocess.run([command, "--version"], capture_output=True, text=True, check=True)
    assert version in output.stdout, f"nearlinear --version prints {output.stdout!r}"
    subprocess.run([command, "methods"], capture_output=True, check=True)


def run_page(page):
    names = {"__name__": page.name}
    for block in re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.M | re.S):
        exec(compile(block, page.name, "exec"), names)


if __name__ == "__main__":
    pages = [Path(name).resolve() for name in sys.argv[1:]]
    warnings.filterwarnings("error", module=PACKAGE)
    version = import_package()
    run_console_script(version)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        save_and_load_model()
        for page in pages:
            run_page(page)
        os.chdir("/")
    print(f"nearlinear {version} works")
