"""Arrows point one way: cli → export → estimators → solvers → {kernels, gates} ← predictors."""

import ast
import re
from pathlib import Path

import pytest

import nearlinear

ROOT = Path(nearlinear.__file__).parent
FOUNDATION = {
    "_cached", "_class_labels", "_code_cache", "_compile", "_config", "_cpu_time", "_csv", "_files",
    "_hints", "_interrupt", "_resources", "_similar_names", "_sklearn", "_version", "_warn",
    "kinds",
}  # fmt: skip
MATHEMATICS = {"kernels", "gates", "losses"}
MODELS = MATHEMATICS | {"maps"} | {"solvers", "predictors", "explain", "single_row", "estimators"}
SOLVERS = MATHEMATICS | {"solvers"}  # the files of the folder itself, not those of its folders

# What each part may import beside itself and the foundation; the longest name that fits counts.
ALLOWED = {
    **{part: set() for part in FOUNDATION | MATHEMATICS | {"runtime", "streams"}},
    "solvers": MATHEMATICS,
    "solvers.machine": SOLVERS,
    "solvers.mixture": SOLVERS | {"solvers.machine"},
    "solvers.localized": SOLVERS | {"solvers.machine", "solvers.mixture"},
    "solvers.conformal": SOLVERS | {"solvers.machine", "solvers.mixture"},
    "solvers.anchors": SOLVERS,
    "solvers.forests": SOLVERS,
    "solvers.cells": SOLVERS | {"solvers.machine"},
    "solvers.trees": SOLVERS | {"solvers.anchors"},
    # the same solvers on a device of torch
    "gpu": MATHEMATICS | {"solvers", "kernels", "predictors"},
    "maps": {"kernels"},
    # what scores mean (runtime/outcome.py) is one formula for models and for files
    "predictors": {"kernels", "gates", "maps", "runtime"},
    "explain": {"kernels", "gates", "predictors", "preparation", "runtime"},
    "single_row": {"gates", "predictors", "preparation", "runtime"},
    # "report": a thin method on ``Model``, which imports it when it is called
    "estimators": MODELS | {"preparation", "runtime", "report", "streams", "gpu"},
    "preparation": {"runtime"},
    "tables": {"preparation", "runtime", "streams"},
    "export": MODELS | {"__init__", "runtime", "preparation", "tables"},
    "displays": MODELS,
    "search": MODELS | {"runtime", "preparation", "tables", "displays", "streams"},
    "report": MODELS | {"preparation", "runtime", "export", "search"},
    "dask": MODELS | {"search", "streams"},
    # "__init__": commands use the public names as any user does.
    "cli": MODELS
    | {"__init__", "search", "tables", "export", "runtime", "displays", "preparation", "report"}
    | {"streams"},
    "__main__": {"cli"},
    "__init__": MODELS | {"export", "runtime", "search", "tables", "streams"},
}


def module_name(path):
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(ROOT.rglob("*.py"))}
TREES = {module: ast.parse(path.read_text(encoding="utf-8")) for module, path in MODULES.items()}
FOLDERS = {module: path.parent for module, path in MODULES.items() if path.stem == "__init__"}


def part_of(module):
    """The part of the package that a module belongs to: the longest name in ``ALLOWED``."""
    words = module.split(".")[1:]
    while words and ".".join(words) not in ALLOWED:
        words.pop()
    if not words and module != "nearlinear":
        return module
    return ".".join(words) or "__init__"


def allows(part, reached):
    """Whether a part may import another; a folder's name stands for the folders in it, too."""
    if part == reached or reached in FOUNDATION or reached in ALLOWED[part]:
        return True
    whole = reached.partition(".")[0]
    return whole in ALLOWED[part] and not part.startswith(f"{whole}.") and part != whole


def targets(statement, module):
    """Names that an import statement refers to, relative ones resolved."""
    if isinstance(statement, ast.Import):
        return [alias.name for alias in statement.names]
    base = statement.module or ""
    if statement.level:
        is_package = MODULES[module].name == "__init__.py"
        package = module.split(".") if is_package else module.split(".")[:-1]
        base = ".".join([*package[: len(package) - statement.level + 1], *filter(None, [base])])
    # `from nearlinear import gates` imports the module nearlinear.gates.
    names = [f"{base}.{alias.name}" for alias in statement.names]
    return [name if name in MODULES else base for name in names]


def is_for_type_checkers(node):
    return isinstance(node, ast.If) and getattr(node.test, "id", None) == "TYPE_CHECKING"


def imports(module, *, on_import_only=False):
    """Everything that a module imports, or only what importing it loads."""
    waiting, found = [TREES[module]], set()
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            found.update(targets(node, module))
        elif on_import_only and (
            isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or is_for_type_checkers(node)
        ):
            continue
        waiting.extend(ast.iter_child_nodes(node))
    return found


IMPORTS = {module: imports(module) for module in MODULES}


def users_of(library):
    return {m for m, found in IMPORTS.items() if library in {n.split(".")[0] for n in found}}


def test_imports_follow_the_arrows():
    wrong = [
        f"{module} imports {name}"
        for module, found in IMPORTS.items()
        for name in sorted(found)
        if name.split(".")[0] == "nearlinear" and not allows(part_of(module), part_of(name))
    ]
    assert wrong == []


def test_no_computed_import_goes_around_the_arrows():
    computed = {
        module
        for module, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Name | ast.Attribute)
        and getattr(node, "id", getattr(node, "attr", None)) in ("import_module", "__import__")
    }
    assert {part_of(module) for module in computed} == {"__init__", "kinds", "cli"}


def test_dask_stays_in_its_folder():
    assert {part_of(module) for name in ("dask", "distributed") for module in users_of(name)} == {
        "dask"
    }


@pytest.mark.parametrize("outside", ["tests", "reference", "benchmarks", "reproduce", "examples"])
def test_package_does_not_import_what_lies_outside_it(outside):
    assert users_of(outside) == set()


@pytest.mark.parametrize("heavy", ["numba", "matplotlib"])
def test_heavy_libraries_are_imported_only_when_needed(heavy):
    at_once = {module: imports(module, on_import_only=True) for module in users_of(heavy)}
    assert [m for m, found in at_once.items() if heavy in {n.split(".")[0] for n in found}] == []


def test_torch_is_imported_only_by_what_runs_on_a_device():
    """Elsewhere inside functions alone; and of ``gpu`` only the names of devices are loaded."""
    at_once = {module: imports(module, on_import_only=True) for module in MODULES}
    loads = {m for m, found in at_once.items() if "torch" in {n.split(".")[0] for n in found}}
    assert {part_of(module) for module in loads} == {"gpu"}
    reached = {
        name
        for module, found in at_once.items()
        if part_of(module) != "gpu"
        for name in found
        if name.startswith("nearlinear.gpu")
    }
    assert reached == {"nearlinear.gpu.device"}
    assert not any(n.startswith("nearlinear.gpu.") for n in at_once["nearlinear.gpu.device"])


def test_compile_options_live_in_one_file():
    assert users_of("numba") == {"nearlinear._compile", "nearlinear._code_cache"}


def private_names_of_sklearn(tree):
    """Private modules, functions and classes of scikit-learn that a module imports or reads."""
    bound, private = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [(alias.name, alias.asname or "sklearn") for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [(f"{node.module}.{a.name}", a.asname or a.name) for a in node.names]
        else:
            continue
        names = [(path, name) for path, name in names if path.split(".")[0] == "sklearn"]
        private |= {path for path, _ in names if re.search(r"\._(?!_)", path)}
        bound |= {name for _, name in names}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and re.match("_(?!_)", node.attr):
            owner = node.value
            while isinstance(owner, ast.Attribute):
                owner = owner.value
            if isinstance(owner, ast.Name) and owner.id in bound:
                private.add(ast.unparse(node))
    return private


def test_private_names_of_sklearn_are_imported_by_one_file():
    users = {module for module, tree in TREES.items() if private_names_of_sklearn(tree)}
    assert users == {"nearlinear._sklearn"}


@pytest.mark.parametrize(
    "source",
    [
        "from sklearn.utils import _safe_indexing",
        "from sklearn.utils._mask import indices_to_mask",
        "import sklearn.tree._tree",
        "import sklearn\nsklearn.utils._safe_indexing(X, 1)",
        "from sklearn import calibration as c\nc._SigmoidCalibration()",
    ],
)
def test_private_names_of_sklearn_are_recognized(source):
    assert private_names_of_sklearn(ast.parse(source))


def test_pictures_live_in_displays():
    assert {part_of(module) for module in users_of("matplotlib")} == {"displays"}


def test_every_file_has_a_subject():
    without = {"utils", "helpers", "common", "misc"}
    assert [m for m in MODULES if m.split(".")[-1].strip("_") in without] == []


def test_a_folder_lists_its_modules():
    wrong = []
    for module, folder in FOLDERS.items():
        if module == "nearlinear":
            continue
        inside = {p.stem for p in folder.glob("*.py")} | {
            f"{p.parent.name}/" for p in folder.glob("*/__init__.py")
        }
        listing = ast.get_docstring(TREES[module]).partition("-------\n")[2]
        listed = set(re.findall(r"^(\S+)  ", listing, re.M))
        if listed != {name for name in inside if not name.startswith("__")}:
            wrong.append((module, listed ^ inside))
    assert wrong == []


def test_no_folder_is_a_heap():
    counts = {module: len(list(folder.glob("*.py"))) for module, folder in FOLDERS.items()}
    assert {module: n for module, n in counts.items() if n > 21} == {}  # the listing among them
