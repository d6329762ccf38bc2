"""Arrows point one way: cli → estimators → solvers → {kernels, gates} ← predictors ← export."""

import ast
from pathlib import Path

import pytest

import nearlinear

ROOT = Path(nearlinear.__file__).parent
FOUNDATION = {"_warn", "_compile", "_arrays", "_cached", "_interrupt", "_version"}
MATHEMATICS = {"kernels", "gates", "losses"}
MODELS = MATHEMATICS | {"solvers", "predictors", "estimators"}

# What each part may import beside itself and the foundation.
ALLOWED = {
    "_compile": set(),
    "_arrays": set(),
    "_cached": set(),
    "_interrupt": set(),
    "_version": set(),
    "_warn": set(),
    "losses": set(),
    "kernels": set(),
    "gates": set(),
    "solvers": MATHEMATICS,
    "predictors": {"kernels", "gates", "preparation"},
    # what scores mean (runtime/outcome.py) is one formula for models and for files
    "estimators": MODELS | {"preparation", "runtime"},
    "runtime": set(),
    "preparation": {"runtime"},
    "export": {"predictors", "kernels", "gates", "runtime", "preparation"},
    "search": {"estimators"},
    "distributed": {"solvers", "estimators"},
    "displays": MODELS,
    # "__init__": commands use the public names as any user does.
    "cli": MODELS | {"__init__", "export", "runtime", "search", "displays", "preparation"},
    "__main__": {"cli"},
    "__init__": MODELS | {"export", "search", "runtime"},
}


def module_name(path):
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(ROOT.rglob("*.py"))}


def part_of(module):
    """First word below the package: a folder, or a file of the root."""
    words = module.split(".")
    return words[1] if len(words) > 1 else "__init__"


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


def imports(module, *, on_import_only=False):
    """Everything that a module imports, or only what importing it loads."""
    waiting, found = [ast.parse(MODULES[module].read_text(encoding="utf-8"))], set()
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            found.update(targets(node, module))
        elif on_import_only and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        waiting.extend(ast.iter_child_nodes(node))
    return found


@pytest.mark.parametrize("module", MODULES)
def test_imports_follow_the_arrows(module):
    part = part_of(module)
    inside = {name for name in imports(module) if name.split(".")[0] == "nearlinear"}
    reached = {part_of(name) for name in inside}
    assert part in ALLOWED, f"{module}: give its folder a place in the layers"
    assert reached <= ALLOWED[part] | FOUNDATION | {part}


@pytest.mark.parametrize("module", MODULES)
def test_package_does_not_import_what_lies_outside_it(module):
    outside = {name.split(".")[0] for name in imports(module)}
    assert not outside & {"tests", "reference", "benchmarks", "reproduce", "examples"}


@pytest.mark.parametrize("heavy", ["numba", "matplotlib", "torch"])
@pytest.mark.parametrize("module", MODULES)
def test_heavy_libraries_are_imported_only_when_needed(module, heavy):
    assert heavy not in {name.split(".")[0] for name in imports(module, on_import_only=True)}


def test_compile_options_live_in_one_file():
    users = {name for name in MODULES if "numba" in {t.split(".")[0] for t in imports(name)}}
    assert users == {"nearlinear._compile"}


def test_pictures_live_in_displays():
    users = {name for name in MODULES if "matplotlib" in {t.split(".")[0] for t in imports(name)}}
    assert {part_of(name) for name in users} == {"displays"}


@pytest.mark.parametrize("module", MODULES)
def test_every_file_has_a_subject(module):
    assert module.split(".")[-1].strip("_") not in {"utils", "helpers", "common", "misc"}
