"""What the repository says about itself is true."""

import doctest
import re
from collections import Counter
from functools import partial
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits

import nearlinear

ROOT = Path(__file__).parents[1]


def python_blocks(name):
    return re.findall(r"^```python\n(.*?)^```", (ROOT / name).read_text("utf-8"), re.M | re.S)


def few_rows_of(load):
    return lambda return_X_y: tuple(values[:200] for values in load(return_X_y=return_X_y))


# Every page that shows Python; what is only to be read is a block of ```py or ```text.
ELSEWHERE = {"docs/scale/dask.md"}  # a test below
PAGES = [
    name
    for path in (ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md")))
    if (name := path.relative_to(ROOT).as_posix()) not in ELSEWHERE and python_blocks(name)
]


@pytest.mark.parametrize("name", PAGES)
def test_examples_run_as_one_program(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # what an example writes stays out of the working tree
    for load in (load_breast_cancer, load_digits):  # names shall be right, not figures
        monkeypatch.setattr(f"sklearn.datasets.{load.__name__}", few_rows_of(load))
    names = {"__name__": name}
    for block in python_blocks(name):
        exec(compile(block, name, "exec"), names)


def test_example_of_dask_runs(monkeypatch):
    distributed = pytest.importorskip("distributed")
    in_threads = partial(distributed.LocalCluster, processes=False, dashboard_address=":0")
    monkeypatch.setattr(distributed, "LocalCluster", in_threads)  # processes take 20 seconds
    (block,) = python_blocks("docs/scale/dask.md")
    names = {"__name__": "__main__"}
    exec(compile(block, "docs/scale/dask.md", "exec"), names)
    assert names["local"].predict(np.zeros((1, 20))).shape == (1,)


@pytest.mark.parametrize("name", nearlinear.__all__)
def test_examples_in_docstrings_hold(name):
    value = getattr(nearlinear, name)
    if isinstance(value, ModuleType):
        names = [part.name for part in iter_modules(value.__path__, f"{value.__name__}.")]
        modules = [value, *map(import_module, names)]
    else:
        modules = [import_module(value.__module__)]
    assert [module.__name__ for module in modules if doctest.testmod(module).failed] == []


def test_the_tree_in_the_documentation_is_that_of_the_code():
    page = (ROOT / "docs" / "develop" / "architecture.md").read_text("utf-8")
    tree = re.search(r"^nearlinear/\n(.*?)^```", page, re.M | re.S).group(1)
    # a line names either a folder, with a slash, or modules
    shown = [word for line in tree.splitlines() if "/" not in line for word in line.split()]
    files = (ROOT / "src" / "nearlinear").rglob("*.py")
    assert Counter(shown) == Counter(p.stem for p in files if p.stem != "__init__")


# Names of features that were removed before the first release.
REMOVED = (
    "Cascade", "early_exit", "loss_given_up_", "ProductMKL", "PairFeatures", "ConformalMapsDisplay",
    "HistoryDisplay", "ImportancesDisplay", "LocalFitsDisplay", "LocalKernelsDisplay",
    "TreeCellsDisplay", "DaskLLSVM", "DaskLCCSVM", "DaskLMKL", "DaskDCPred",
    "streams.deformed_images", "make attack",
)  # fmt: skip
TEXTS = {".py", ".md", ".rst", ".toml", ".js", ".ts"}
FOLDERS = ("src", "docs", "examples", "benchmarks", "reproduce")


def test_nothing_mentions_a_removed_feature():
    paths = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*")]
    paths += [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Makefile")]
    pattern = re.compile("|".join(rf"\b{re.escape(name)}" for name in REMOVED))
    mentions = {
        path.relative_to(ROOT).as_posix(): sorted(set(pattern.findall(path.read_text("utf-8"))))
        for path in paths
        if path.suffix in TEXTS or path.name == "Makefile"
    }
    assert {name: words for name, words in mentions.items() if words} == {}
