"""A look at an installed package, by whatever Python it is installed in: needs nothing else.

``python release/smoke.py`` imports it and all public names with warnings as errors, fits, saves and
loads a model. ``python release/smoke.py README.md`` also runs the console script and the program
of the page.
"""

import os
import re
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

# Warnings of what we stand on are not ours: they come and go with its versions.
OURS = r"nearlinear(\..*)?"


def imports():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        import nearlinear
    with warnings.catch_warnings():
        warnings.filterwarnings("error", module=OURS)
        for name in nearlinear.__all__:
            getattr(nearlinear, name)
    root = Path(nearlinear.__file__).parent
    assert (root / "py.typed").exists(), "py.typed is not installed"
    assert (root / "js" / "nearlinear.js").exists(), "nearlinear.js is not installed"
    return nearlinear.__version__


def a_model():
    from sklearn.datasets import load_iris

    from nearlinear import LDKLClassifier, load, runtime, save

    X, y = load_iris(return_X_y=True)
    model = LDKLClassifier(2, random_state=0).fit(X, y)
    save(model, "model.nlm")
    assert (load("model.nlm").predict(X) == model.predict(X)).all()
    assert (runtime.load("model.nlm").predict(X) == model.predict(X)).all()


def console_script(version):
    # beside this Python: the one on the path may be another's
    beside = [*Path(sys.executable).parent.glob("nearlinear*")]
    command = beside[0] if beside else "nearlinear"
    said = subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout
    assert version in said, f"nearlinear --version says {said!r}"
    subprocess.run([command, "methods"], capture_output=True, check=True)


def program_of(page):
    names = {"__name__": page.name}
    for block in re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.M | re.S):
        exec(compile(block, page.name, "exec"), names)


if __name__ == "__main__":
    pages = [Path(one).resolve() for one in sys.argv[1:]]
    warnings.filterwarnings("error", module=OURS)
    version = imports()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        a_model()
        if pages:
            console_script(version)
        for page in pages:
            program_of(page)
        os.chdir("/")
    print(f"nearlinear {version} works")
